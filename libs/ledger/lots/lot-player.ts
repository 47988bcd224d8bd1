import { NamedError } from '#platform/errors.js';
import {
  type At,
  dayOf,
  type EarlierUse,
  type LotEvent,
  type LotPurpose,
  type LotState,
  type LotUse,
  type UnmetUse,
} from './lot.js';

/** A row of uses does not fit into one lot, and must be split into single uses. */
export class RowStraddles extends NamedError {
  constructor() {
    super('a row of uses does not fit into one lot');
  }
}

/** The events contradict the state before them. */
export class LotsBroken extends NamedError {}

/**
 * Plays what happened to an account's lots, in ledger order: settled amounts consume lots first in first out;
 * holds and releases touch none; a refund restores what its charge consumed; what finds no credit waits for the next. Pure.
 *
 * What is recognised of a lot's payment is floor(paid × used / credits) at any time, of what refunds and chargebacks left of
 * both; each step posts the difference, for the purpose of the use that made it. Runs of uses give the same as each alone.
 */
export class LotPlayer {
  /** The played events in order, to be stored. */
  readonly uses: LotUse[] = [];
  /** Lots that were created or changed. */
  readonly touched = new Set<LotState>();
  private readonly lots: LotState[];
  private unmetUses: UnmetUse[];
  /** No lot before this one has anything unused. */
  private first = 0;
  /** The rows of the lot that ordinary uses currently take from, by purpose. */
  private open = new Map<LotPurpose, LotUse>();

  /**
   * Changes neither of the states that it is given.
   * @param lots at least those that have something unused or that the events name, in the order of their ids
   * @param earlier what stored uses of one transaction and purpose took or gave back, in their order
   */
  constructor(
    lots: readonly LotState[],
    unmet: readonly UnmetUse[],
    private readonly earlier: (useId: bigint, purpose: LotPurpose) => readonly EarlierUse[],
  ) {
    this.lots = lots.map((lot) => ({ ...lot }));
    this.unmetUses = unmet.map((use) => ({ ...use }));
  }

  /** Uses not yet covered by credits, oldest first. */
  get unmet(): readonly UnmetUse[] {
    return this.unmetUses;
  }

  /** @throws RowStraddles, LotsBroken; the player cannot be used after that */
  play(events: readonly LotEvent[]): void {
    for (const event of events) {
      if (event.kind === 'use') this.use(event);
      else if (event.kind === 'lot') this.add(event);
      else if (event.kind === 'change') this.change(event);
      else this.restore(event);
    }
  }

  private add(event: Extract<LotEvent, { kind: 'lot' } | { kind: 'change' }>): void {
    const { lotId, credits, paidMinor } = event;
    const lot = { lotId, credits, paidMinor, used: 0n, recognisedMinor: 0n, lastPurpose: null };
    this.lots.push(lot);
    this.touched.add(lot);
    this.coverUnmet(event);
  }

  private change(event: Extract<LotEvent, { kind: 'lot' } | { kind: 'change' }>): void {
    this.open.clear();
    const lot = this.lotOf(event.lotId);
    lot.credits += event.credits;
    lot.paidMinor += event.paidMinor;
    if (lot.used > lot.credits || lot.paidMinor < 0n)
      throw new LotsBroken(`more left lot ${lot.lotId} than was unused of it, at transaction ${event.id}`);
    const purpose = lot.lastPurpose ?? 'debt';
    const minor = this.recognise(lot);
    if (minor !== 0n) {
      const { id, effectiveAt } = event;
      const rounding = { lotId: lot.lotId, firstUseId: id, lastUseId: id, purpose, credits: 0n };
      this.uses.push({ ...rounding, minor, atId: id, effectiveAt });
    }
    if (event.credits > 0n) this.freed(lot, event);
  }

  private use(event: Extract<LotEvent, { kind: 'use' }>): void {
    const lot = this.nextLot();
    const { credits, purpose } = event;
    if (lot && purpose !== 'debt' && purpose !== 'adjustment' && credits <= lot.credits - lot.used) {
      this.useWhole(lot, event);
      return;
    }
    if (event.count > 1) throw new RowStraddles();
    this.open.clear();
    const unmet = { useId: event.id, purpose, credits, effectiveAt: event.effectiveAt };
    this.consume(unmet, event);
    if (unmet.credits > 0n) this.unmetUses.push(unmet);
  }

  /** Uses that follow each other in one lot become one row for each purpose, until the day changes. */
  private useWhole(lot: LotState, event: Extract<LotEvent, { kind: 'use' }>): void {
    const { purpose, credits, firstId, id, effectiveAt } = event;
    const minor = this.take(lot, purpose, credits);
    const row = this.open.get(purpose);
    if (row && row.lotId === lot.lotId && dayOf(row.effectiveAt) === dayOf(effectiveAt)) {
      row.credits += credits;
      row.minor += minor;
      row.lastUseId = id;
      row.atId = id;
      if (effectiveAt > row.effectiveAt) row.effectiveAt = effectiveAt;
      return;
    }
    if (row && row.lotId !== lot.lotId) this.open.clear();
    const fresh = { lotId: lot.lotId, firstUseId: firstId, lastUseId: id, purpose };
    const use = { ...fresh, credits, minor, atId: id, effectiveAt };
    this.open.set(purpose, use);
    this.uses.push(use);
  }

  /** Takes what a use still needs from the lots, in rows of its own: when both the use and the credits were there. */
  private consume(unmet: UnmetUse, at: At): void {
    const { useId, purpose } = unmet;
    const effectiveAt = at.effectiveAt > unmet.effectiveAt ? at.effectiveAt : unmet.effectiveAt;
    for (let lot = this.nextLot(); lot && unmet.credits > 0n; lot = this.nextLot()) {
      const unused = lot.credits - lot.used;
      const credits = unused < unmet.credits ? unused : unmet.credits;
      const minor = this.take(lot, purpose, credits);
      unmet.credits -= credits;
      const use = { lotId: lot.lotId, firstUseId: useId, lastUseId: useId, purpose };
      this.uses.push({ ...use, credits, minor, atId: at.id, effectiveAt });
    }
  }

  private coverUnmet(at: At): void {
    this.open.clear();
    for (const unmet of this.unmetUses) {
      if (!this.nextLot()) break;
      this.consume(unmet, at);
    }
    this.unmetUses = this.unmetUses.filter(({ credits }) => credits > 0n);
  }

  /** Gives back first what a use could not take, then what it took last. */
  private restore(event: Extract<LotEvent, { kind: 'restore' }>): void {
    this.open.clear();
    const { id, effectiveAt, useId, purpose } = event;
    let left = event.credits;
    const unmet = this.unmetUses.find((use) => use.useId === useId);
    if (unmet) {
      const forgiven = left < unmet.credits ? left : unmet.credits;
      unmet.credits -= forgiven;
      left -= forgiven;
      this.unmetUses = this.unmetUses.filter(({ credits }) => credits > 0n);
    }
    const slices = this.slicesOf(event);
    for (let last = slices.pop(); last && left > 0n; last = slices.pop()) {
      const lot = this.lotOf(last.lotId);
      const credits = left < last.credits ? left : last.credits;
      left -= credits;
      const minor = this.take(lot, lot.lastPurpose, -credits);
      const use = { lotId: lot.lotId, firstUseId: useId, lastUseId: useId, purpose };
      this.uses.push({ ...use, credits: -credits, minor, atId: id, effectiveAt });
      this.first = 0;
    }
    if (left > 0n)
      throw new LotsBroken(`transaction ${id} returns ${left} nanos more than ${useId} had used`);
    this.coverUnmet(event);
  }

  /** What a use currently has of the lots, in the order taken. */
  private slicesOf(event: Extract<LotEvent, { kind: 'restore' }>): { lotId: bigint; credits: bigint }[] {
    const { useId, useCredits, purpose } = event;
    const played = this.uses.filter(
      (use) => use.purpose === purpose && use.firstUseId <= useId && useId <= use.lastUseId,
    );
    const slices: { lotId: bigint; credits: bigint }[] = [];
    for (const use of [...this.earlier(useId, purpose), ...played]) {
      const isAlone = use.firstUseId === use.lastUseId;
      if (use.credits > 0n) slices.push({ lotId: use.lotId, credits: isAlone ? use.credits : useCredits });
      else pop(slices, -use.credits);
    }
    return slices;
  }

  private take(lot: LotState, purpose: LotPurpose | null, credits: bigint): bigint {
    lot.used += credits;
    if (lot.used < 0n) throw new LotsBroken(`more came back to lot ${lot.lotId} than was used of it`);
    lot.lastPurpose = purpose;
    return this.recognise(lot);
  }

  /** @returns the change in what is recognised of it */
  private recognise(lot: LotState): bigint {
    const { credits, paidMinor, used } = lot;
    const target = credits === 0n ? paidMinor : (paidMinor * used) / credits;
    const moved = target - lot.recognisedMinor;
    lot.recognisedMinor = target;
    this.touched.add(lot);
    return moved;
  }

  private freed(lot: LotState, at: At): void {
    this.first = Math.min(this.first, this.lots.indexOf(lot));
    this.coverUnmet(at);
  }

  private nextLot(): LotState | undefined {
    for (; this.first < this.lots.length; this.first += 1) {
      const lot = this.lots[this.first] as LotState;
      if (lot.used < lot.credits) return lot;
    }
    return undefined;
  }

  private lotOf(lotId: bigint): LotState {
    const lot = this.lots.find((each) => each.lotId === lotId);
    if (!lot) throw new LotsBroken(`there is no lot ${lotId} yet`);
    return lot;
  }
}

function pop(slices: { lotId: bigint; credits: bigint }[], amount: bigint): void {
  let left = amount;
  while (left > 0n && slices.length > 0) {
    const last = slices.at(-1) as { credits: bigint };
    const credits = left < last.credits ? left : last.credits;
    last.credits -= credits;
    left -= credits;
    if (last.credits === 0n) slices.pop();
  }
}
