import type { Family } from '#pricing/price-book.js';

/** What credits were used for. `debt`: chargebacks of credits that had been used. */
export type LotPurpose = Family | 'debt' | 'adjustment';

/** A lot as it is now. Credits are nanos, payments minor units. */
export interface LotState {
  readonly lotId: bigint;
  /** What refunds and chargebacks left of it, used or not, and of its payment. */
  credits: bigint;
  paidMinor: bigint;
  used: bigint;
  /** Of `paidMinor`: what left deferred revenue. */
  recognisedMinor: bigint;
  /** Of the newest use, which gets what rounding leaves when credits leave the lot. */
  lastPurpose: LotPurpose | null;
}

/** A use beyond all lots: the next credits cover it. Its id is that of its ledger transaction. */
export interface UnmetUse {
  readonly useId: bigint;
  readonly purpose: LotPurpose;
  credits: bigint;
  /** When the use was effective: nothing covers it before. */
  readonly effectiveAt: string;
}

/** What used a lot; one row for uses in a row of one purpose and day, from the first to the last. Negative: refunded. */
export interface LotUse {
  readonly lotId: bigint;
  readonly firstUseId: bigint;
  lastUseId: bigint;
  readonly purpose: LotPurpose;
  credits: bigint;
  /** What it recognised of the lot's payment. */
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
      /** What is refunded: the use's transaction, and what that used in total. */
      useId: bigint;
      useCredits: bigint;
      purpose: LotPurpose;
      credits: bigint;
    });

/** The parts of a stored use that say what it took. */
export type EarlierUse = Pick<LotUse, 'lotId' | 'firstUseId' | 'lastUseId' | 'credits'>;

/** The UTC day of an ISO time. */
export function dayOf(iso: string): string {
  return iso.slice(0, 10);
}
