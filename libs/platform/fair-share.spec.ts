import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { ManualClock } from './clock.fixture.js';
import { systemClock } from './clock.js';
import { FairShare } from './fair-share.js';
import type { ShareRefusal, Share } from './share.js';

const LONG = { waitMs: 60_000 };

function taken(answer: Share | ShareRefusal): Share {
  if (!answer.granted) throw new Error(`refused: ${answer.reason}`);
  return answer;
}

/** The last of these was granted to a member that had been forgotten meanwhile. */
const FORGOTTEN_AND_REFUSED = [
  { ask: 1, amount: 11 },
  { ask: 4, amount: 11 },
  { advanceMs: 4_000 },
  { ask: 4, amount: 4 },
  { ask: 1, amount: 7 },
];

describe('a pool from which members take without waiting', () => {
  it('gives a lone member everything, and says that it has its share', () => {
    const pool = new FairShare({ clock: systemClock, capacity: 8 });
    for (let place = 0; place < 8; place += 1) taken(pool.tryTake('a'));
    expect(pool.tryTake('a')).toMatchObject({ reason: 'over_share', retryAfterSeconds: 2 });
    expect(pool.heldBy('a')).toBe(8);
  });

  it('gives what is released to a newcomer in a full pool, until both have half', () => {
    const pool = new FairShare({ clock: systemClock, capacity: 8 });
    const held = Array.from({ length: 8 }, () => taken(pool.tryTake('a')));
    expect(pool.tryTake('b')).toMatchObject({ reason: 'full' });
    for (const share of held.slice(0, 4)) {
      share.release();
      expect(pool.tryTake('a')).toMatchObject({ reason: 'over_share' });
      taken(pool.tryTake('b'));
      expect(pool.tryTake('b').granted).toBe(false);
    }
    expect([pool.heldBy('a'), pool.heldBy('b')]).toEqual([4, 4]);
  });

  it('forgets a newcomer that does not return', () => {
    const clock = new ManualClock(0);
    const pool = new FairShare({ clock, capacity: 2, retryAfterSeconds: 3 });
    const [first] = [taken(pool.tryTake('a')), taken(pool.tryTake('a'))];
    expect(pool.tryTake('b').granted).toBe(false);
    first.release();
    clock.advance(5_999);
    expect(pool.tryTake('a').granted).toBe(false);
    clock.advance(1);
    expect(pool.tryTake('a').granted).toBe(true);
  });

  it('counts what it grants to a member that it forgets in the same turn', () => {
    const clock = new ManualClock(0);
    const pool = new FairShare({ clock, capacity: 2, retryAfterSeconds: 3 });
    const held = [taken(pool.tryTake('a')), taken(pool.tryTake('a'))];
    expect(pool.tryTake('b')).toMatchObject({ reason: 'full' });
    for (const share of held) share.release();
    clock.advance(6_000);
    const late = taken(pool.tryTake('b'));
    expect(pool.heldBy('b')).toBe(1);
    expect(late.more(1)).toBeNull();
    expect(pool.heldBy('b')).toBe(2);
    late.release();
    expect([pool.heldBy('b'), pool.taken]).toEqual([0, 0]);
  });

  it('keeps a reserve for newcomers', () => {
    const pool = new FairShare({ clock: systemClock, capacity: 100, reserve: 10 });
    const hog = taken(pool.tryTake('a', 60));
    expect(hog.more(31)).toMatchObject({ reason: 'over_share' });
    expect(hog.more(30)).toBeNull();
    const newcomer = taken(pool.tryTake('b', 4));
    expect(newcomer.more(6)).toBeNull();
    expect(newcomer.more(1)).toMatchObject({ reason: 'full' });
    expect([hog.amount, newcomer.amount, pool.taken]).toEqual([90, 10, 100]);
    hog.release();
    expect(newcomer.more(80)).toBeNull();
  });

  it('leaves room for members that were here a moment ago, but only for a moment', () => {
    const clock = new ManualClock(0);
    const pool = new FairShare({ clock, capacity: 8, recentMs: 10_000 });
    for (const id of ['a', 'b', 'c', 'd']) taken(pool.tryTake(id)).release();
    const most = (id: string): number => {
      while (pool.tryTake(id).granted);
      return pool.heldBy(id);
    };
    // A quarter is left, although three were here.
    expect(most('a')).toBe(6);
    taken(pool.tryTake('b'));
    taken(pool.tryTake('c'));
    expect(pool.taken).toBe(8);
  });

  it('gives a lone member everything again once the others have been away for long', () => {
    const clock = new ManualClock(0);
    const pool = new FairShare({ clock, capacity: 8, recentMs: 10_000 });
    taken(pool.tryTake('b')).release();
    for (let place = 0; place < 7; place += 1) taken(pool.tryTake('a'));
    expect(pool.tryTake('a')).toMatchObject({ reason: 'over_share' });
    clock.advance(10_000);
    taken(pool.tryTake('a'));
  });

  it('gives a waiting member the room once nobody else was here recently', async () => {
    const pool = new FairShare({ clock: systemClock, capacity: 4, recentMs: 50 });
    taken(pool.tryTake('b')).release();
    for (let place = 0; place < 3; place += 1) taken(pool.tryTake('a'));
    taken(await pool.take('a', 1, LONG));
    expect(pool.heldBy('a')).toBe(4);
  });

  it('never grants more than there is, and such a request holds nobody up', () => {
    const pool = new FairShare({ clock: systemClock, capacity: 10 });
    expect(pool.tryTake('a', 11)).toMatchObject({ reason: 'over_share' });
    expect(pool.tryTake('b', 10).granted).toBe(true);
  });

  it('releases a share once, and then adds nothing to it', () => {
    const pool = new FairShare({ clock: systemClock, capacity: 2 });
    const share = taken(pool.tryTake('a'));
    taken(pool.tryTake('a'));
    share.release();
    share.release();
    expect(pool.taken).toBe(1);
    expect(share.more(1)).toMatchObject({ granted: false });
  });

  it('keeps every promise whatever is requested in whatever order', () => {
    const step = fc.oneof(
      fc.record({ ask: fc.nat(4), amount: fc.integer({ min: 1, max: 12 }) }),
      fc.record({ release: fc.nat(30) }),
      fc.record({ advanceMs: fc.nat(5_000) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), fc.constantFrom(0, 3), (steps, reserve) => {
        const model = new Model(24, reserve);
        for (const each of steps) {
          if ('ask' in each) model.ask(`m${each.ask}`, each.amount);
          else if ('release' in each) model.release(each.release);
          else model.clock.advance(each.advanceMs);
        }
        model.finish();
      }),
      { numRuns: 500, examples: [[FORGOTTEN_AND_REFUSED, 3]] },
    );
  });
});

describe('a pool that members wait for', () => {
  it('serves the member that holds the least first, no matter who asked more often or earlier', async () => {
    const pool = new FairShare({ clock: systemClock, capacity: 2 });
    const order: string[] = [];
    const work = async (member: string) => {
      const share = taken(await pool.take(member, 1, LONG));
      order.push(member);
      await Promise.resolve();
      share.release();
    };
    const calls = [
      ...Array.from({ length: 50 }, () => work('hog')),
      ...Array.from({ length: 5 }, () => work('guest')),
    ];
    await Promise.all(calls);
    expect(order.slice(0, 14).filter((member) => member === 'guest')).toHaveLength(5);
    expect(pool.taken + pool.waiting).toBe(0);
  });

  it('divides equally among members while all of them want more', async () => {
    const seed = fc.record({
      capacity: fc.integer({ min: 2, max: 9 }),
      wishes: fc.array(fc.integer({ min: 20, max: 60 }), { minLength: 2, maxLength: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(seed, async ({ capacity, wishes }) => {
        const pool = new FairShare({ clock: systemClock, capacity });
        const served = wishes.map(() => 0);
        const work = async (member: number) => {
          const share = taken(await pool.take(`m${member}`, 1, LONG));
          expect(pool.taken).toBeLessThanOrEqual(capacity);
          served[member]! += 1;
          const allWant = wishes.every((wish, other) => wish - served[other]! > capacity);
          if (allWant) expect(Math.max(...served) - Math.min(...served)).toBeLessThanOrEqual(2 * capacity);
          await Promise.resolve();
          share.release();
        };
        await Promise.all(wishes.flatMap((wish, member) => Array.from({ length: wish }, () => work(member))));
        expect(served).toEqual(wishes);
        expect(pool.taken + pool.waiting).toBe(0);
      }),
      { numRuns: 100 },
    );
  });

  it('waits no longer than allowed, and says whose fault it is', async () => {
    const pool = new FairShare({ clock: systemClock, capacity: 2 });
    const held = [taken(pool.tryTake('a')), taken(pool.tryTake('a'))];
    const refused = await Promise.all([pool.take('a', 1, { waitMs: 5 }), pool.take('b', 1, { waitMs: 5 })]);
    expect(refused).toMatchObject([{ reason: 'over_share' }, { reason: 'full' }]);
    for (const share of held) share.release();
    expect(pool.taken + pool.waiting).toBe(0);
  });

  it('leaves the queue on its signal', async () => {
    const pool = new FairShare({ clock: systemClock, capacity: 1 });
    const share = taken(pool.tryTake('a'));
    const leaving = new AbortController();
    const waits = pool.take('b', 1, { ...LONG, signal: leaving.signal });
    const stays = pool.take('c', 1, LONG);
    leaving.abort();
    expect(await waits).toMatchObject({ reason: 'aborted' });
    expect(await pool.take('b', 1, { ...LONG, signal: leaving.signal })).toMatchObject({ reason: 'aborted' });
    share.release();
    taken(await stays).release();
    expect(pool.taken + pool.waiting).toBe(0);
  });

  it('does not pass over a large amount without end', async () => {
    const pool = new FairShare({ clock: systemClock, capacity: 4 });
    const held = Array.from({ length: 4 }, () => taken(pool.tryTake('many')));
    const large = pool.take('large', 3, LONG);
    const more = pool.take('many', 1, LONG);
    for (const share of held.slice(0, 3)) share.release();
    taken(await large).release();
    taken(await more);
  });

  it('grows for waiting members', async () => {
    const pool = new FairShare({ clock: systemClock, capacity: 1 });
    taken(pool.tryTake('a'));
    const waits = pool.take('b', 1, LONG);
    pool.capacity = 2;
    taken(await waits);
  });

  it('limits how long a queue a member may have', async () => {
    const pool = new FairShare({ clock: systemClock, capacity: 1, maxWaiting: 1 });
    const share = taken(pool.tryTake('a'));
    const first = pool.take('a', 1, LONG);
    expect(await pool.take('a', 1, LONG)).toMatchObject({ reason: 'over_share' });
    share.release();
    taken(await first);
  });
});

/** Says of each answer whether the promises allow it, from its own sums. */
class Model {
  readonly clock = new ManualClock(0);
  private readonly pool: FairShare;
  private readonly shares: { member: string; share: Share }[] = [];
  private readonly missed = new Map<string, { amount: number; untilMs: number }>();

  constructor(
    private readonly capacity: number,
    private readonly reserve: number,
  ) {
    this.pool = new FairShare({ clock: this.clock, capacity, reserve });
  }

  ask(member: string, amount: number): void {
    const mayHave = this.mayHave(member, amount);
    const answer = this.pool.tryTake(member, amount);
    expect(answer.granted).toBe(mayHave);
    if (answer.granted) {
      this.shares.push({ member, share: answer });
      this.missed.delete(member);
    } else {
      const isDue = this.isDue(member, amount, member);
      expect(answer.reason).toBe(isDue ? 'full' : 'over_share');
      if (isDue) this.missed.set(member, { amount, untilMs: this.clock.nowMs() + 4_000 });
    }
    expect(this.pool.heldBy(member)).toBe(this.held(member));
    expect(this.pool.taken).toBe(this.total());
    expect(this.pool.taken).toBeLessThanOrEqual(this.capacity);
  }

  release(which: number): void {
    if (this.shares.length === 0) return;
    const [gone] = this.shares.splice(which % this.shares.length, 1);
    gone?.share.release();
  }

  finish(): void {
    for (const { share } of this.shares) share.release();
    expect(this.pool.taken).toBe(0);
    this.clock.advance(10_000);
    expect(this.pool.tryTake('alone', this.capacity).granted).toBe(true);
  }

  private mayHave(member: string, amount: number): boolean {
    const free = this.capacity - this.total();
    const kept = this.held(member) + amount <= this.reserve || this.total() === 0 ? 0 : this.reserve;
    if (amount > free - kept) return false;
    if (this.isDue(member, amount, member)) return true;
    return ![...this.missed].some(
      ([other, missed]) =>
        other !== member && this.isMissed(other) && this.isDue(other, missed.amount, member),
    );
  }

  private isDue(member: string, amount: number, asking: string): boolean {
    const active = new Set([...this.shares.map((held) => held.member), asking]);
    for (const other of this.missed.keys()) if (this.isMissed(other)) active.add(other);
    const due = (this.capacity - this.reserve) / active.size;
    return this.held(member) === 0 || this.held(member) + amount <= due;
  }

  private isMissed(member: string): boolean {
    return (this.missed.get(member)?.untilMs ?? 0) > this.clock.nowMs();
  }

  private held(member: string): number {
    return this.shares.reduce((sum, held) => sum + (held.member === member ? held.share.amount : 0), 0);
  }

  private total(): number {
    return this.shares.reduce((sum, { share }) => sum + share.amount, 0);
  }
}
