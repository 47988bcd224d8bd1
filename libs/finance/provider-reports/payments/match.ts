import type { ReportingProvider } from '../report-line.js';

/** What becomes of a payment, refund or dispute that both sides know of, or one of them. */
export type MatchState =
  | 'matched'
  /** A line was reported in two ways, and someone accepted that. */
  | 'accepted'
  /** Too young to judge, or no report covers its time yet. */
  | 'waiting'
  /** No report covers its time, and none that continues the last one will. For the end of a period: nothing covers it yet. */
  | 'not_covered'
  | 'missing_here'
  | 'missing_there'
  | 'differs'
  | 'twice';

export type MatchKind =
  | 'payment'
  | 'refund'
  | 'return'
  | 'dispute'
  | 'adjustment'
  /** Posted from their lines alone: here only when one was reported in two ways. */
  | 'fee'
  | 'payout'
  | 'payout_failure';

/** States that a person must look at. */
export const FAULTY = [
  'not_covered',
  'missing_here',
  'missing_there',
  'differs',
  'twice',
] as const satisfies MatchState[];

export interface MatchQuery {
  provider: ReportingProvider | null;
  /** Happened not before, and before: by the provider's time where it has one. ISO 8601. */
  from: string | null;
  to: string | null;
  /** Null: whatever the state. */
  states: readonly MatchState[] | null;
  /** Judged as for a period that ends then, and only what is dated before it; left out: as of now. ISO 8601. */
  before?: string | null;
  /** What is younger may be in progress still. */
  graceMs: number;
}

export interface MatchedItem {
  provider: ReportingProvider;
  kind: MatchKind;
  /** The id of the payment, refund or dispute. */
  id: string;
  state: MatchState;
  /** Text of the database, to the microsecond. */
  at: string;
  ours: { amountMinor: bigint; currency: string; at: string; transactionIds: bigint[] } | null;
  theirs: { amountMinor: bigint; currency: string; at: string; lineIds: string[] } | null;
  /** Days between what they say and what we recorded; noted, not counted. Null where it is not a day. */
  daysApart: number | null;
  /** A line of it said something else later, and nobody accepted that. */
  changed: boolean;
}

export interface MatchDay {
  day: string;
  provider: ReportingProvider;
  state: MatchState;
  currency: string;
  items: number;
  oursMinor: bigint;
  theirsMinor: bigint;
}

/** The key of an item in the list: its time, provider, kind and id. */
export type MatchKey = readonly [at: string, provider: string, kind: string, id: string];
