import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import type { EarlierUse, LotEvent, LotUse } from './lot.js';
import { LotPlayer, LotsBroken, RowStraddles } from './lot-player.js';

type Family = 'image' | 'chat';

/** Events that number themselves. By default, a payment has as many minor units as its lot has credits. */
class Story {
  readonly events: LotEvent[] = [];
  day = 1;

  private at(): { id: bigint; effectiveAt: string } {
    const id = BigInt(this.events.length + 1);
    return { id, effectiveAt: `2026-01-0${this.day}T00:00:00.${id.toString().padStart(6, '0')}Z` };
  }

  lot(credits: bigint, paidMinor = credits): bigint {
    const lotId = BigInt(this.events.filter(({ kind }) => kind === 'lot').length + 1);
    this.events.push({ kind: 'lot', ...this.at(), lotId, credits, paidMinor });
    return lotId;
  }

  change(lotId: bigint, credits: bigint, paidMinor = credits): this {
    this.events.push({ kind: 'change', ...this.at(), lotId, credits, paidMinor });
    return this;
  }

  use(credits: bigint, purpose: Family | 'debt' | 'adjustment' = 'image'): bigint {
    const at = this.at();
    this.events.push({ kind: 'use', ...at, firstId: at.id, count: 1, purpose, credits });
    return at.id;
  }

  restore(useId: bigint, credits?: bigint): this {
    const use = this.events[Number(useId) - 1] as Extract<LotEvent, { kind: 'use' }>;
    const of = { useId, useCredits: use.credits, purpose: use.purpose };
    this.events.push({ kind: 'restore', ...this.at(), ...of, credits: credits ?? use.credits });
    return this;
  }
}

const nothing = (): readonly EarlierUse[] => [];

function play(events: readonly LotEvent[]): LotPlayer {
  const player = new LotPlayer([], [], nothing);
  player.play(events);
  return player;
}

interface Outcome {
  unused: bigint[];
  deferred: bigint[];
  unmet: bigint;
  recognised: Record<string, bigint>;
}

/** The sums of the stored rows, and the states next to them. */
function outcomeOf(player: LotPlayer, uses: readonly LotUse[] = player.uses): Outcome {
  const lots = [...player.touched].sort((a, b) => Number(a.lotId - b.lotId));
  const recognised: Record<string, bigint> = {};
  for (const { purpose, minor } of uses) recognised[purpose] = (recognised[purpose] ?? 0n) + minor;
  for (const lot of lots) {
    const own = uses.filter(({ lotId }) => lotId === lot.lotId);
    expect(own.reduce((sum, { credits }) => sum + credits, 0n)).toBe(lot.used);
    expect(own.reduce((sum, { minor }) => sum + minor, 0n)).toBe(lot.recognisedMinor);
  }
  return {
    unused: lots.map(({ credits, used }) => credits - used),
    deferred: lots.map(({ paidMinor, recognisedMinor }) => paidMinor - recognisedMinor),
    unmet: player.unmet.reduce((sum, { credits }) => sum + credits, 0n),
    recognised: Object.fromEntries(Object.entries(recognised).filter(([, minor]) => minor !== 0n)),
  };
}

describe('lots', () => {
  it('are used first in, first out, and their payment is earned as they are used', () => {
    const story = new Story();
    story.lot(10n, 100n);
    story.lot(10n, 0n);
    story.use(4n);
    story.use(9n, 'chat');
    expect(outcomeOf(play(story.events))).toEqual({
      unused: [0n, 7n],
      deferred: [0n, 0n],
      unmet: 0n,
      recognised: { image: 40n, chat: 60n },
    });
  });

  it('of a late payment cover a debt when it arose, and an earlier debt when they arrived', () => {
    const story = new Story();
    story.day = 3;
    story.use(4n, 'debt');
    story.day = 2;
    story.lot(3n);
    story.day = 5;
    story.lot(3n);
    const player = play(story.events);
    expect(player.uses.map(({ credits, effectiveAt }) => [credits, effectiveAt.slice(0, 10)])).toEqual([
      [3n, '2026-01-03'],
      [1n, '2026-01-05'],
    ]);
    const later = new LotPlayer([], play(story.events.slice(0, 1)).unmet, nothing);
    later.play(story.events.slice(1));
    expect(later.uses).toEqual(player.uses);
  });

  it('get back what a refunded charge took from them, and not what was used last', () => {
    const story = new Story();
    story.lot(10n);
    story.lot(10n);
    const first = story.use(10n);
    story.use(4n, 'chat');
    story.restore(first);
    expect(outcomeOf(play(story.events))).toMatchObject({ unused: [10n, 6n], recognised: { chat: 4n } });
    story.use(3n);
    expect(outcomeOf(play(story.events))).toMatchObject({
      unused: [7n, 6n],
      recognised: { image: 3n, chat: 4n },
    });
  });

  it('get back a use of several lots from its end, in parts', () => {
    const story = new Story();
    story.lot(5n);
    story.lot(5n);
    const use = story.use(8n);
    story.restore(use, 2n);
    expect(outcomeOf(play(story.events))).toMatchObject({ unused: [0n, 4n] });
    story.restore(use, 4n);
    expect(outcomeOf(play(story.events))).toMatchObject({ unused: [3n, 5n], recognised: { image: 2n } });
    story.restore(use, 2n);
    expect(outcomeOf(play(story.events))).toMatchObject({ unused: [5n, 5n], recognised: {} });
  });

  it('give a refund what is left in them, and no more', () => {
    const story = new Story();
    story.lot(10n);
    story.use(3n);
    story.change(1n, -7n);
    story.lot(5n);
    story.use(1n);
    expect(outcomeOf(play(story.events))).toMatchObject({ unused: [0n, 4n], deferred: [0n, 4n] });
  });

  it('keep no deferred rounding difference when the rest of a lot goes', () => {
    const story = new Story();
    story.lot(3n, 10n);
    story.use(1n, 'chat');
    story.change(1n, -2n, -6n);
    const player = play(story.events);
    expect(outcomeOf(player)).toMatchObject({ unused: [0n], deferred: [0n], recognised: { chat: 4n } });
    expect(player.uses.at(-1)).toMatchObject({ credits: 0n, minor: 1n, purpose: 'chat' });
  });

  it('cover a debt as soon as they arrive, in order, and their payment makes up for it', () => {
    const story = new Story();
    story.lot(10n);
    story.use(8n);
    story.change(1n, -2n);
    story.use(8n, 'debt');
    expect(outcomeOf(play(story.events))).toMatchObject({ unmet: 8n });
    story.lot(5n);
    story.lot(5n);
    expect(outcomeOf(play(story.events))).toEqual({
      unused: [0n, 0n, 2n],
      deferred: [0n, 0n, 2n],
      unmet: 0n,
      recognised: { image: 8n, debt: 8n },
    });
  });

  it('are restored when the dispute is won', () => {
    const before = new Story();
    before.lot(10n);
    before.use(8n);
    before.lot(20n);
    const lost = new Story();
    lost.events.push(...before.events);
    lost.change(1n, -2n);
    const debt = lost.use(8n, 'debt');
    expect(outcomeOf(play(lost.events))).toMatchObject({ unused: [0n, 12n] });
    lost.change(1n, 2n).restore(debt);
    expect(outcomeOf(play(lost.events))).toEqual(outcomeOf(play(before.events)));
  });

  it('record uses of one purpose, day and lot in one row', () => {
    const story = new Story();
    story.lot(100n);
    const [first, , , last] = [story.use(1n), story.use(2n, 'chat'), story.use(3n), story.use(4n)];
    story.day = 2;
    story.use(5n);
    expect(play(story.events).uses).toMatchObject([
      { purpose: 'image', firstUseId: first, lastUseId: last, credits: 8n },
      { purpose: 'chat', credits: 2n },
      { purpose: 'image', credits: 5n },
    ]);
  });

  it('refuse what contradicts the ledger before it', () => {
    const story = new Story();
    story.lot(10n);
    const use = story.use(3n);
    const beyond = [...story.events, ...new Story().change(1n, -8n).events];
    expect(() => play(beyond)).toThrow(LotsBroken);
    expect(() =>
      play([...story.restore(use, 3n).events, ...story.restore(use, 1n).events.slice(-1)]),
    ).toThrow(LotsBroken);
  });

  const amount = fc.bigInt({ min: 1n, max: 20n });
  const step = fc.oneof(
    fc.record({ kind: fc.constant('lot' as const), credits: amount, paid: fc.bigInt({ min: 0n, max: 99n }) }),
    fc.record({
      kind: fc.constant('use' as const),
      credits: amount,
      purpose: fc.constantFrom('image' as const, 'chat' as const, 'debt' as const, 'adjustment' as const),
    }),
    fc.record({
      kind: fc.constant('restore' as const),
      of: fc.nat(20),
      part: fc.bigInt({ min: 1n, max: 3n }),
    }),
    fc.record({ kind: fc.constant('leave' as const), of: fc.nat(5), part: fc.bigInt({ min: 1n, max: 3n }) }),
    fc.record({ kind: fc.constant('day' as const) }),
  );
  const stories = fc.array(step, { maxLength: 60 }).map((steps) => {
    const story = new Story();
    const left = new Map<bigint, bigint>();
    for (const draw of steps) {
      if (draw.kind === 'lot') story.lot(draw.credits, draw.paid);
      else if (draw.kind === 'use') left.set(story.use(draw.credits, draw.purpose), draw.credits);
      else if (draw.kind === 'day') story.day = Math.min(9, story.day + 1);
      else if (draw.kind === 'restore') {
        const [useId, credits] = [...left][draw.of] ?? [0n, 0n];
        const back = credits / draw.part;
        if (back === 0n) continue;
        left.set(useId, credits - back);
        story.restore(useId, back);
      } else {
        const lot = [...play(story.events).touched].find(({ lotId }) => lotId === BigInt(draw.of));
        if (!lot || lot.used === lot.credits) continue;
        const credits = (lot.credits - lot.used + draw.part - 1n) / draw.part;
        const all = lot.paidMinor - lot.recognisedMinor;
        const isAll = credits === lot.credits - lot.used;
        story.change(lot.lotId, -credits, -(isAll ? all : (lot.paidMinor * credits) / lot.credits));
      }
    }
    return story.events;
  });

  it('never lose or invent credits or money', () => {
    fc.assert(
      fc.property(stories, (events) => {
        const signs = { lot: 1n, change: 1n, restore: 1n, use: -1n };
        const total = events.reduce((sum, { kind, credits }) => sum + signs[kind] * credits, 0n);
        const { unused, unmet } = outcomeOf(play(events));
        const sum = unused.reduce((all, one) => all + one, 0n);
        expect(sum - unmet).toBe(total);
        expect(sum === 0n || unmet === 0n).toBe(true);
        for (const { credits, paidMinor, used, recognisedMinor } of play(events).touched) {
          const due = credits === 0n ? paidMinor : (paidMinor * used) / credits;
          expect({ recognisedMinor, isPart: 0n <= due && due <= paidMinor }).toEqual({
            recognisedMinor: due,
            isPart: true,
          });
        }
      }),
    );
  });

  /** Like the store: passes on only open or named lots, and finds the uses of earlier parts by ID. */
  function playInParts(events: readonly LotEvent[], sizes: readonly number[]): Outcome {
    let lots: LotPlayer['touched'] = new Set();
    let player = new LotPlayer([], [], nothing);
    const uses: LotUse[] = [];
    const earlier = (useId: bigint, purpose: string): EarlierUse[] =>
      uses.filter((use) => use.purpose === purpose && use.firstUseId <= useId && useId <= use.lastUseId);
    for (let [from, turn] = [0, 0]; from < events.length; turn += 1) {
      const size = sizes[turn % sizes.length] ?? 1;
      player = new LotPlayer([...lots], player.unmet, earlier);
      player.play(events.slice(from, from + size));
      uses.push(...player.uses);
      const moved = new Map([...lots, ...player.touched].map((lot) => [lot.lotId, lot]));
      lots = new Set([...moved.values()].sort((a, b) => Number(a.lotId - b.lotId)));
      from += size;
    }
    player.touched.clear();
    lots.forEach((lot) => player.touched.add(lot));
    return outcomeOf(player, uses);
  }

  it('give the same result in whatever parts they are played', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 9 });
    fc.assert(
      fc.property(stories, sizes, (events, parts) => {
        expect(playInParts(events, parts)).toEqual(outcomeOf(play(events)));
      }),
    );
  });

  it('give the same result when consecutive uses are combined, unless they straddle lots', () => {
    fc.assert(
      fc.property(stories, (events) => {
        let together: Outcome;
        try {
          together = outcomeOf(play(inRows(events)));
        } catch (error) {
          expect(error).toBeInstanceOf(RowStraddles);
          return;
        }
        expect(together).toEqual(outcomeOf(play(events)));
      }),
      { numRuns: 500 },
    );
  });
});

function inRows(events: readonly LotEvent[]): LotEvent[] {
  const rows: LotEvent[] = [];
  for (const event of events) {
    const last = rows.at(-1);
    const isSame =
      event.kind === 'use' &&
      last?.kind === 'use' &&
      ['image', 'chat'].includes(event.purpose) &&
      event.purpose === last.purpose &&
      event.effectiveAt.slice(0, 10) === last.effectiveAt.slice(0, 10);
    if (!isSame) rows.push(event);
    else {
      const { id, effectiveAt } = event;
      const credits = last.credits + event.credits;
      rows[rows.length - 1] = { ...last, id, effectiveAt, count: last.count + 1, credits };
    }
  }
  return rows;
}
