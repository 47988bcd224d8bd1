import { NamedError } from '#platform/errors.js';

/** A provider that keeps a balance for us and reports its movements. */
export type ReportingProvider = 'stripe' | 'sandbox';

export type LineType =
  | 'payment'
  | 'refund'
  | 'refund_failure'
  | 'dispute'
  | 'dispute_reversal'
  | 'fee'
  | 'payout'
  | 'payout_failure'
  | 'adjustment';

/** Money between the provider and our bank. */
export function isPayout({ type }: { type: LineType }): boolean {
  return type === 'payout' || type === 'payout_failure';
}

/** A movement of our balance at a provider, as it reports it. */
export interface ReportLine {
  /** The provider's own ID, never reused. */
  readonly lineId: string;
  readonly type: LineType;
  /** Minor units of the currency. Positive for money to us. */
  readonly amountMinor: bigint;
  /** What the provider kept for itself; negative when it gave a fee back. */
  readonly feeMinor: bigint;
  /** ISO 4217. */
  readonly currency: string;
  /** ISO 8601, UTC. */
  readonly happenedAt: string;
  /** The day from which it can be paid out, `2026-01-31`. */
  readonly availableOn: string | null;
  /** The payment, refund, dispute or payout, as named in our books, or the line itself if it is none of these. */
  readonly subjectId: string;
  readonly paymentId: string | null;
  /** The payout that took it to the bank, once the provider says so. */
  readonly payoutId: string | null;
  /** The provider's description, without names of people. */
  readonly description: string;
}

/** What a report covers: everything, everything except payouts, or payouts only. */
export type ReportContent = 'all' | 'activity' | 'payouts';

export interface RowFault {
  /** Counted from 1, with the header. */
  readonly line: number;
  /** Null if the whole row is faulty. */
  readonly column: string | null;
  readonly reason: string;
}

const FAULTS_NAMED = 5;

/** A file has unreadable rows, so nothing was imported. */
export class ReportRefused extends NamedError {
  constructor(readonly faults: readonly RowFault[]) {
    const named = faults.slice(0, FAULTS_NAMED).map(faultText).join(' ');
    const more = faults.length > FAULTS_NAMED ? ` There are ${faults.length - FAULTS_NAMED} more.` : '';
    super(`Nothing was imported. ${named}${more}`);
  }
}

export function faultText({ line, column, reason }: RowFault): string {
  return `Line ${line}${column === null ? '' : `, ${column}`}: ${reason}`;
}

const MOST_TEXT = 200;

/**
 * One line of text, as far as it is kept. Anything that looks like an email address is removed, because a report must not name
 * anybody.
 */
export function keptText(text: string, most = MOST_TEXT): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replace(/[^\s@<>"']+@[^\s@<>"']+/g, '…')
    .trim()
    .slice(0, most)
    .toWellFormed()
    .trim();
}
