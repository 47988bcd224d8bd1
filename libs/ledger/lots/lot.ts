import type { Family } from '#pricing/price-book.js';

/** What credits were used for. `debt`: chargebacks of credits that had been used. */
export type LotPurpose = Family | 'debt' | 'adjustment';

/** A lot as it is now. Credits are nanos, payments minor units. */
export interface LotState {
  readonly lotId: bigint;
  /** What is left of it and of its payment after refunds and chargebacks, used or not. */
  credits: bigint;
  paidMinor: bigint;
  used: bigint;
  /** The part of `paidMinor` that left deferred revenue. */
  recognisedMinor: bigint;
  /** The newest use, which gets the rounding difference when credits leave the lot. */
  lastPurpose: LotPurpose | null;
}

/** A use beyond all lots, to be covered by the next credits. Its ID is that of its ledger transaction. */
export interface UnmetUse {
  readonly useId: bigint;
  readonly purpose: LotPurpose;
  credits: bigint;
  /** When the use was effective. Nothing covers it earlier. */
  readonly effectiveAt: string;
}

/** What used a lot; one row for uses in a row of one purpose and day, from the first to the last. Negative: refunded. */
export interface LotUse {
  readonly lotId: bigint;
  readonly firstUseId: bigint;
  lastUseId: bigint;
  readonly purpose: LotPurpose;
  credits: bigint;
  /** The part of the lot's payment that it recognised. */
  minor: bigint;
  /** The ledger transaction at which it happened, and when that was effective: ISO 8601 in UTC. */
  atId: bigint;
  effectiveAt: string;
}

export interface At {
  readonly id: bigint;
  readonly effectiveAt: string;
}

export type LotEvent =
  /** A lot came; or credits of one left it unused, or came back, with their part of its payment. */
  | (At & { kind: 'lot'; lotId: bigint; credits: bigint; paidMinor: bigint })
  | (At & { kind: 'change'; lotId: bigint; credits: bigint; paidMinor: bigint })
  /** `count` uses in a row, up to the transaction `id`; those of one row are of one purpose and UTC day. */
  | (At & { kind: 'use'; firstId: bigint; count: number; purpose: LotPurpose; credits: bigint })
  | (At & {
      kind: 'restore';
      /** The refunded use: its transaction, and its total. */
      useId: bigint;
      useCredits: bigint;
      purpose: LotPurpose;
      credits: bigint;
    });

/** The parts of a stored use that say what it took. */
export type EarlierUse = Pick<LotUse, 'lotId' | 'firstUseId' | 'lastUseId' | 'credits'>;

export function dayOf(iso: string): string {
  return iso.slice(0, 10);
}
