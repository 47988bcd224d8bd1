import type { Clock } from './clock.js';
import { type Claimant, isDue, mayHave, nextInTurn, type PoolState } from './fair-order.js';
import type { ShareRefusal, Share } from './share.js';

export interface FairShareOptions {
  clock: Clock;
  /** What is divided: places, bytes. Infinity: everyone gets everything. */
  capacity: number;
  /**
   * A part of the capacity for newcomers: only a member that holds no more than this, including its request, may use
   * it. Without it (0, the default), a single member may hold everything, and a newcomer gets what is released next.
   */
  reserve?: number;
  /**
   * How long a member that no longer holds anything still counts as one, because it is likely to be back soon. The
   * default of 0 is for pools where a returning member may wait.
   */
  recentMs?: number;
  /** When a refused member may retry. Its place is kept a little longer. */
  retryAfterSeconds?: number;
  /** How many requests of one member may wait at the same time. More are refused at once. */
  maxWaiting?: number;
}

interface Waiter {
  amount: number;
  settle: (answer: Share | ShareRefusal) => void;
}

/** A member is kept as long as it is active. */
interface Member extends Claimant {
  id: string;
  held: number;
  waiting: Waiter[];
  turn: number;
  missed: { amount: number; untilMs: number } | null;
}

const RETRY_AFTER_SECONDS = 2;
const MAX_WAITING = 1_000;
/** More would not change what the others are due. */
const MAX_RECENT = 1_000;
/** A client that retries when asked to still finds its place. */
const REMEMBERED_FOR_RETRIES = 2;

/**
 * Divides a pool among its members (accounts, for example). What is promised:
 *
 * - Never more than the capacity is held.
 * - A member is active while it holds something, waits, or was refused a moment ago what it is due. Each of k active
 *   members is due capacity / k (less the reserve), and always its first amount. A member alone is due everything.
 * - Beyond what it is due, a member gets what is free only while no other active member wants something it is due. So
 *   a lone member takes all of it, and what it releases goes to newcomers until all have equal parts.
 * - With `recentMs`, members that were active a moment ago still count in k, and who takes more than it is due leaves room
 *   for one amount of each other member, at most a quarter of the pool. So who comes and goes seldom waits for someone
 *   who never lets go.
 * - Nothing is taken away from who holds it. A newcomer to a full pool gets the next that is released, or finds the
 *   reserve; how long that takes is up to who holds it, so bound that.
 * - Waiting takes are served the member that holds the least first; of equals, the one that was not served for the longest
 *   time; of one member, in the order in which they came. One that does not fit yet keeps back those of members that hold
 *   more, so a large amount is not passed by for ever.
 *
 * `tryTake` never waits: for what cannot, such as memory while a body arrives. A member refused as `full` is remembered
 * as active for twice its Retry-After, and what is freed meanwhile is its. `take` waits for a bounded time. An amount
 * above the whole capacity is never granted and never remembered; one above the capacity less the reserve fits only
 * into an empty pool.
 *
 * Kept in memory: several processes each divide a pool of their own. An account that is alone on one of them gets all of
 * that one's, so the promise holds for each process, and for all of them together as far as requests are spread evenly.
 */
export class FairShare {
  private readonly members = new Map<string, Member>();
  /** Members that wait or are remembered. */
  private readonly wanting = new Set<Member>();
  /** When members that neither hold nor want anything last did, by the elapsed time, oldest first. */
  private readonly recent = new Map<string, number>();
  private readonly retryAfterSeconds: number;
  private readonly reserve: number;
  private held = 0;
  private turns = 0;
  private size: number;
  private recheck: NodeJS.Timeout | undefined;

  constructor(private readonly options: FairShareOptions) {
    this.size = options.capacity;
    this.reserve = options.reserve ?? 0;
    this.retryAfterSeconds = options.retryAfterSeconds ?? RETRY_AFTER_SECONDS;
  }

  get taken(): number {
    return this.held;
  }

  /** How many requests are waiting. */
  get waiting(): number {
    let count = 0;
    for (const { waiting } of this.wanting) count += waiting.length;
    return count;
  }

  /** Members that have this many requests waiting. */
  waitingMembers(atLeast: number): string[] {
    return [...this.wanting].flatMap(({ id, waiting }) => (waiting.length >= atLeast ? [id] : []));
  }

  get capacity(): number {
    return this.size;
  }

  /** Holdings stay when the capacity shrinks. */
  set capacity(capacity: number) {
    if (capacity === this.size) return;
    this.size = capacity;
    this.serve();
  }

  /** What a member holds. */
  heldBy(memberId: string): number {
    return this.members.get(memberId)?.held ?? 0;
  }

  /** Takes an amount now or not at all. A refused member is remembered for its next attempt. */
  tryTake(memberId: string, amount = 1): Share | ShareRefusal {
    return this.claim(memberId, amount) ?? this.shareOf(memberId, amount);
  }

  /** The same for a caller with alternatives, or who will wait next: nothing is remembered. */
  takeNow(memberId: string, amount = 1): Share | ShareRefusal {
    return this.claim(memberId, amount, { remember: false }) ?? this.shareOf(memberId, amount);
  }

  /** Takes an amount as soon as it is its turn, within a time limit. Never throws. */
  async take(
    memberId: string,
    amount: number,
    { waitMs, signal }: { waitMs: number; signal?: AbortSignal },
  ): Promise<Share | ShareRefusal> {
    if (signal?.aborted) return this.refusal('aborted');
    const member = this.memberOf(memberId);
    if (member.waiting.length >= (this.options.maxWaiting ?? MAX_WAITING)) return this.refusal('over_share');
    if (waitMs <= 0 || amount > this.size) return this.takeNow(memberId, amount);
    return new Promise((resolve) => {
      const waiter: Waiter = { amount, settle };
      const timer = setTimeout(() => this.giveUp(member, waiter), waitMs);
      const aborted = () => this.giveUp(member, waiter, 'aborted');
      signal?.addEventListener('abort', aborted, { once: true });
      function settle(answer: Share | ShareRefusal) {
        clearTimeout(timer);
        signal?.removeEventListener('abort', aborted);
        resolve(answer);
      }
      member.waiting.push(waiter);
      this.wanting.add(member);
      this.serve();
    });
  }

  private giveUp(member: Member, waiter: Waiter, reason?: ShareRefusal['reason']): void {
    member.waiting = member.waiting.filter((other) => other !== waiter);
    waiter.settle(this.refusal(reason ?? (isDue(this.state, member, waiter.amount) ? 'full' : 'over_share')));
    this.tidy(member);
    this.serve();
  }

  /** Adds an amount to what a member holds, if it may have it now; otherwise says why not. */
  private claim(memberId: string, amount: number, { remember } = { remember: true }): ShareRefusal | null {
    // First, because this very member may be forgotten. What is granted to a forgotten member would be lost.
    this.forgetPast();
    const member = this.memberOf(memberId);
    if (mayHave(this.state, member, amount)) {
      this.grant(member, amount);
      return null;
    }
    const hasMissed = isDue(this.state, member, amount) && amount <= this.size;
    if (hasMissed && remember) this.remember(member, amount);
    this.tidy(member);
    return this.refusal(hasMissed ? 'full' : 'over_share');
  }

  private get state(): PoolState {
    const { size, reserve, held, wanting } = this;
    const members = this.members.size + this.recent.size;
    return { size, reserve, held, members, wanting, keepsRoom: Boolean(this.options.recentMs) };
  }

  private grant(member: Member, amount: number): void {
    member.held += amount;
    member.turn = this.turns += 1;
    this.held += amount;
    member.missed = null;
    if (member.waiting.length === 0) this.wanting.delete(member);
  }

  private shareOf(memberId: string, amount: number): Share {
    let isReleased = false;
    const share = {
      granted: true as const,
      amount,
      more: (further: number) => {
        if (isReleased) return this.refusal('over_share');
        const refusal = this.claim(memberId, further);
        if (!refusal) share.amount += further;
        return refusal;
      },
      release: () => {
        if (isReleased) return;
        isReleased = true;
        const member = this.memberOf(memberId);
        member.held -= share.amount;
        this.held -= share.amount;
        this.tidy(member);
        this.serve();
      },
    };
    return share;
  }

  /** Grants whatever is possible to those that wait. */
  private serve(): void {
    this.forgetPast();
    for (;;) {
      const member = nextInTurn(this.wanting);
      if (!member) return;
      const [waiter] = member.waiting as [Waiter];
      if (!mayHave(this.state, member, waiter.amount)) return this.serveLater();
      member.waiting.shift();
      this.grant(member, waiter.amount);
      waiter.settle(this.shareOf(member.id, waiter.amount));
    }
  }

  /** Members behind a refused one that does not return have their turn when that one is forgotten. */
  private serveLater(): void {
    const [leftAtMs = Infinity] = this.recent.values();
    const untilMs = Math.min(
      leftAtMs + (this.options.recentMs ?? 0),
      ...[...this.wanting].map(({ missed }) => missed?.untilMs ?? Infinity),
    );
    clearTimeout(this.recheck);
    if (untilMs === Infinity) return;
    const inMs = Math.max(1, untilMs - this.options.clock.elapsedMs());
    this.recheck = setTimeout(() => this.serve(), inMs).unref();
  }

  private remember(member: Member, amount: number): void {
    const forMs = this.retryAfterSeconds * REMEMBERED_FOR_RETRIES * 1000;
    member.missed = { amount, untilMs: this.options.clock.elapsedMs() + forMs };
    // At the end, so that those to be forgotten come first.
    this.wanting.delete(member);
    this.wanting.add(member);
  }

  private forgetPast(): void {
    const nowMs = this.options.clock.elapsedMs();
    for (const [id, leftAtMs] of this.recent) {
      if (leftAtMs + (this.options.recentMs ?? 0) > nowMs && this.recent.size <= MAX_RECENT) break;
      this.recent.delete(id);
    }
    for (const member of this.wanting) {
      if (member.missed && member.missed.untilMs > nowMs) return;
      member.missed = null;
      if (member.waiting.length === 0) this.tidy(member);
    }
  }

  private memberOf(id: string): Member {
    let member = this.members.get(id);
    if (!member) {
      member = { id, held: 0, waiting: [], turn: (this.turns += 1), missed: null };
      this.members.set(id, member);
      this.recent.delete(id);
    }
    return member;
  }

  /** Forgets members that neither hold nor want anything, and that they wanted something. */
  private tidy(member: Member): void {
    if (member.waiting.length > 0 || member.missed) return;
    this.wanting.delete(member);
    if (member.held > 0 || !this.members.delete(member.id)) return;
    if (this.options.recentMs) this.recent.set(member.id, this.options.clock.elapsedMs());
  }

  private refusal(reason: ShareRefusal['reason']): ShareRefusal {
    return { granted: false, reason, retryAfterSeconds: this.retryAfterSeconds };
  }
}
