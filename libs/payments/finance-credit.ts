import type pg from 'pg';
import type { Actor } from '#identity/role.js';
import { EffectiveTimeRefused } from '#ledger/postings/effective-time.js';
import { UnknownAccount } from '#ledger/postings/posting.js';
import { creditTopup, TopupConflict, type TopupRequest, type TopupResult } from '#ledger/postings/topup.js';
import { formatAmount, type Nanos, nanos } from '#money/amount.js';
import { ApiError } from '#platform/errors.js';
import { type Conversion, LEAST_CREDITS, priceCredits, STANDARD_RATE } from '#topup/conversion.js';
import type { ApprovalContext } from '#approvals/approval.service.js';
import { viewPayment } from './payment.fields.js';

/** The person who uses the finance services. */
export interface FinanceRequest {
  actor: Actor;
  /** Chosen by the client. */
  requestId: string;
  /** The id of the HTTP request, for the audit log. */
  auditId: string;
}

/** The author, for everything written in the same transaction. */
export interface FinanceAuthor {
  /** `user:{id}`. */
  actor: string;
  /** The second person, if one approved. */
  approvedBy: string | null;
  requestId: string;
  auditId: string;
}

export function requestAuthor({ actor, requestId, auditId }: FinanceRequest): FinanceAuthor {
  return { actor: `user:${actor.userId}`, approvedBy: null, requestId, auditId };
}

export function approvedAuthor({
  requestedBy,
  decidedBy,
  requestId,
  approvalId,
}: ApprovalContext): FinanceAuthor {
  const [actor, approvedBy] = [`user:${requestedBy}`, `user:${decidedBy}`];
  return { actor, approvedBy, requestId, auditId: approvalId };
}

/**
 * A second person approves the credits that they saw, and no others.
 * @param seen null: nobody had to approve
 * @throws ApiError conflict
 */
export function requireSeen(credits: Nanos, seen: bigint | null): void {
  if (seen === null || seen === credits) return;
  const amounts = `${formatAmount(credits)} credits instead of ${formatAmount(nanos(seen))}`;
  throw new ApiError('conflict', `It would now move ${amounts}: reject it and ask again.`);
}

/** What they need of the configuration. */
export interface HouseConfig {
  readonly payments: { readonly currency: string };
}

/** What an approval stores as its outcome. */
export function viewTopup({ topupId, credits, balance }: TopupResult): object {
  return { topupId, credits: formatAmount(credits), balance: formatAmount(balance) };
}

/** @throws ApiError for an unknown account, or a payment that was credited in another way */
export async function creditOrRefuse(client: pg.ClientBase, request: TopupRequest): Promise<TopupResult> {
  try {
    return await creditTopup(client, request);
  } catch (error) {
    if (error instanceof TopupConflict) throw new ApiError('conflict', error.message, { param: 'paymentId' });
    if (error instanceof UnknownAccount)
      throw new ApiError('invalid_value', `accountId: ${error.message}`, { param: 'accountId' });
    if (error instanceof EffectiveTimeRefused)
      throw new ApiError('invalid_value', `valueDate: ${error.message}`, { param: 'valueDate' });
    throw error;
  }
}

/** @throws ApiError invalid_value for an unknown account */
export async function requireAccount(client: pg.ClientBase, accountId: string): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM accounts WHERE id = $1', [accountId]);
  if (rowCount) return;
  const message = `accountId: There is no account ${accountId}.`;
  throw new ApiError('invalid_value', message, { param: 'accountId' });
}

/** A manual credit is a top-up like any other. @throws ApiError invalid_value */
export function requireLeastTopup({ credits }: Pick<Conversion, 'credits'>, param: string): void {
  if (credits >= LEAST_CREDITS) return;
  const least = formatAmount(LEAST_CREDITS);
  const { paidMinor } = priceCredits(LEAST_CREDITS, STANDARD_RATE);
  const message = `${param}: a top-up buys at least ${least} credit, for ${viewPayment(paidMinor)} at rate ${STANDARD_RATE}.`;
  throw new ApiError('invalid_value', message, { param });
}

/** @throws ApiError invalid_value: only the currency that customers pay in becomes credits */
export function requireHouseCurrency(currency: string, house: string): void {
  if (currency === house) return;
  const message = `currency: must be ${house}; other money is returned.`;
  throw new ApiError('invalid_value', message, { param: 'currency' });
}
