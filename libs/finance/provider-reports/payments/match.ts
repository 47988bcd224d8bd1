import type { ReportingProvider } from '../report-line.js';
import type { ReportQuery } from '../report-query.js';

/** States that a person must look at. */
export const FAULTY = [
  /** No report covers its time, and no later report will. For the end of a period: not covered yet. */
  'not_covered',
  'missing_here',
  'missing_there',
  'differs',
  'twice',
] as const;

/** The result for a payment, refund or dispute that one or both sides know of. */
export const matchStates = [
  'matched',
  /** A line was reported in two ways, and someone accepted it. */
  'accepted',
  /** Too recent to judge, or not covered by a report yet. */
  'waiting',
  ...FAULTY,
] as const;
export type MatchState = (typeof matchStates)[number];

export const matchKinds = [
  'payment',
  'refund',
  'return',
  'dispute',
  'adjustment',
  /** Posted only from report lines; listed here only if reported in two ways. */
  'fee',
  'payout',
  'payout_failure',
] as const;
export type MatchKind = (typeof matchKinds)[number];

export interface MatchQuery extends ReportQuery<MatchState> {
  provider: ReportingProvider | null;
  /** Younger items may still be in progress. */
  graceMs: number;
}

export interface MatchedItem {
  provider: ReportingProvider;
  kind: MatchKind;
  /** The id of the payment, refund or dispute. */
  id: string;
  state: MatchState;
  /** PostgreSQL text, to the microsecond. */
  at: string;
  ours: { amountMinor: bigint; currency: string; at: string; transactionIds: bigint[] } | null;
  theirs: { amountMinor: bigint; currency: string; at: string; lineIds: string[] } | null;
  /** Days between their date and ours, for information only. Null if less than a day. */
  daysApart: number | null;
  /** One of its lines was later reported differently, and nobody has accepted that. */
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
