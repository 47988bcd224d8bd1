import type pg from 'pg';
import { formatAmount, type Nanos, nanos } from '#money/amount.js';
import { ApiError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import { settleDebt } from './debt.js';
import { takeForDisputes } from './dispute-suspense.js';
import { insertLotChange, unusedPayment } from '../lots/lots.js';
import { type LockedAccount, lockBalance, lockBalances, post } from './posting.js';
import { accountsOfReversal, clawBackReward } from './reward-clawback.js';
import { lotsOf, unreversed } from './same-money.js';
import type { PaymentProviderName } from './topup.js';

export interface TopupRefundRequest {
  topupId: string;
  /** Null: all unused credits. */
  credits: Nanos | null;
  reason: string;
  /** `user:{id}`. */
  actor: string;
  /** The client's id of the request. Repeating it returns the same refund. */
  requestId: string;
}

export interface TopupRefund {
  /** Our id, which the provider gets as the idempotency key. */
  id: string;
  topupId: string;
  accountId: string;
  provider: PaymentProviderName;
  paymentId: string;
  currency: string;
  credits: Nanos;
  paidMinor: bigint;
  state: 'pending' | 'succeeded' | 'failed';
  providerRefundId: string | null;
  failure: string | null;
  transactionId: bigint;
}

/**
 * Withdraws the unused credits of a top-up: Dr main / Cr refund-pending. The provider is called after the commit, then
 * `endTopupRefund`. Used credits cannot be refunded, nor ones that the main balance lacks at the moment.
 * @throws ApiError not_found, conflict
 */
export async function beginTopupRefund(
  client: pg.ClientBase,
  request: TopupRefundRequest,
): Promise<TopupRefund> {
  const account = await lockBalance(client, await accountOf(client, request.topupId));
  const existing = await findRepeatedRefund(client, request);
  if (existing) return existing;
  const { lotId, amount, paidMinor } = await refundable(client, account, request);
  const id = newId();
  const transactionId = await post(client, {
    kind: 'topup-refund',
    reference: `topup-refund:${id}`,
    accountId: account.accountId,
    movements: [
      { account, purpose: 'main', amount: -amount },
      { account, purpose: 'refundPending', amount },
    ],
  });
  const taken = { credits: -amount, paidMinor: -paidMinor };
  await insertLotChange(client, { lotId, transactionId, kind: 'refund', ...taken });
  const { accountId } = account;
  await insertRefund(client, request, { id, accountId, credits: amount, paidMinor, transactionId });
  return (await findTopupRefund(client, id)) as TopupRefund;
}

/** The credits that go back, and their payment. @throws ApiError conflict */
async function refundable(
  client: pg.ClientBase,
  account: LockedAccount,
  { topupId, credits }: TopupRefundRequest,
): Promise<{ lotId: bigint; amount: bigint; paidMinor: bigint }> {
  const lots = await lotsOf(client, account, topupId);
  const lot = lots.find((each) => each.topupId === topupId);
  if (!lot) throw new Error(`top-up ${topupId} has no lot`);
  const left = await unreversed(client, topupId);
  const amount = refundableCredits({ unused: lot.unused, left: left.credits, main: account.main }, credits);
  const share = unusedPayment(lot, amount);
  const paidMinor = share < left.paidMinor ? share : left.paidMinor;
  if (paidMinor === 0n)
    throw new ApiError('conflict', 'These credits are worth less than the smallest refund.');
  return { lotId: lot.id, amount, paidMinor };
}

async function insertRefund(
  client: pg.ClientBase,
  { topupId, reason, actor, requestId }: TopupRefundRequest,
  made: { id: string; accountId: string; credits: bigint; paidMinor: bigint; transactionId: bigint },
): Promise<void> {
  const { id, accountId, credits, paidMinor, transactionId } = made;
  await client.query(
    `INSERT INTO topup_refunds (id, topup_id, account_id, credits, paid_minor, reason, actor, request_id, transaction_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [id, topupId, accountId, credits, paidMinor, reason, actor, requestId, transactionId],
  );
}

export interface RefundEnd {
  refundId: string;
  /** The provider's id. Null if it never accepted the refund. */
  providerRefundId: string | null;
  outcome: 'succeeded' | 'failed';
  failure?: string | null;
  /** When it ended, ISO 8601. Now by default. */
  endedAt?: string | null;
}

interface EndedRefund extends TopupRefund {
  /** Whether money that a person had resolved is back in suspense, because the refund failed now. */
  isBack: boolean;
}

/**
 * Ends a pending refund with the provider's outcome: Dr refund-pending / Cr issued:credit with Dr deferred-revenue / Cr
 * psp, and the reward of the top-up taken back in proportion; or everything back to main, but for what disputes of the payment
 * took beyond what was left of it. An ended refund stays unchanged.
 * @throws ApiError not_found
 */
export async function endTopupRefund(client: pg.ClientBase, end: RefundEnd): Promise<EndedRefund> {
  const found = await client.query('SELECT FROM topup_refunds WHERE id = $1 FOR UPDATE', [end.refundId]);
  const refund = found.rowCount === 0 ? null : await findTopupRefund(client, end.refundId);
  if (!refund) throw new ApiError('not_found', 'There is no such refund.');
  if (refund.state !== 'pending') return { ...refund, isBack: false };
  const accounts = await lockBalances(client, await accountsOfReversal(client, refund.accountId));
  const account = accounts.get(refund.accountId) as LockedAccount;
  const isRefunded = end.outcome === 'succeeded';
  const failed = isRefunded ? null : await takeForDisputes(client, accounts, refund);
  const ending = { account, effectiveAt: end.endedAt ?? null, taken: failed ?? refund };
  const transactionId = await (isRefunded ? postRefunded : postReturned)(client, refund, ending);
  await client.query(
    `UPDATE topup_refunds SET state = $2, provider_refund_id = coalesce($3, provider_refund_id), failure = $4,
       ended_transaction_id = $5, ended_at = now() WHERE id = $1`,
    [refund.id, end.outcome, end.providerRefundId, end.failure ?? null, transactionId],
  );
  const { topupId } = refund;
  if (isRefunded) {
    await clawBackReward(client, accounts, { topupId, reversal: `refund:${refund.id}` });
    await client.query(`UPDATE topup_orders SET state = 'refunded' WHERE topup_id = $1 AND state = 'paid'`, [
      topupId,
    ]);
  } else {
    await settleDebt(client, account);
  }
  return { ...((await findTopupRefund(client, refund.id)) as TopupRefund), isBack: failed?.isBack ?? false };
}

export async function findTopupRefund(
  client: pg.ClientBase | pg.Pool,
  refundId: string,
): Promise<TopupRefund | null> {
  const { rows } = await client.query<TopupRefund>(`${REFUNDS} WHERE r.id = $1`, [refundId]);
  return rows[0] ?? null;
}

/** Where it is posted, when it is effective, and what does not go back to the customer. */
interface Ending {
  account: LockedAccount;
  effectiveAt: string | null;
  taken: { credits: bigint; paidMinor: bigint };
}

function postRefunded(
  client: pg.ClientBase,
  refund: TopupRefund,
  { account, effectiveAt }: Ending,
): Promise<bigint> {
  const { id, credits, paidMinor, provider, transactionId } = refund;
  return post(client, {
    kind: 'topup-refunded',
    reference: `topup-refunded:${id}`,
    accountId: account.accountId,
    linkedId: transactionId,
    effectiveAt,
    movements: [
      { account, purpose: 'refundPending', amount: -credits },
      { code: 'issued:credit', commodity: 'CRD', amount: credits },
      { code: 'deferred-revenue', commodity: 'PAY', amount: -paidMinor },
      { code: `psp:${provider}`, commodity: 'PAY', amount: paidMinor },
    ],
  });
}

async function postReturned(
  client: pg.ClientBase,
  refund: TopupRefund,
  { account, effectiveAt, taken }: Ending,
): Promise<bigint> {
  const { id, provider, topupId } = refund;
  const credits = refund.credits - taken.credits;
  const paidMinor = refund.paidMinor - taken.paidMinor;
  const transactionId = await post(client, {
    kind: 'topup-refund-returned',
    reference: `topup-refund-returned:${id}`,
    accountId: account.accountId,
    linkedId: refund.transactionId,
    effectiveAt,
    movements: [
      { account, purpose: 'refundPending', amount: -refund.credits },
      { account, purpose: 'main', amount: credits },
      { code: 'issued:credit', commodity: 'CRD', amount: taken.credits },
      { code: 'deferred-revenue', commodity: 'PAY', amount: -taken.paidMinor },
      { code: `psp:${provider}`, commodity: 'PAY', amount: taken.paidMinor },
    ],
  });
  if (credits === 0n && paidMinor === 0n) return transactionId;
  const lot = await client.query<{ id: bigint | string }>('SELECT id FROM credit_lots WHERE topup_id = $1', [
    topupId,
  ]);
  const lotId = BigInt(lot.rows[0]?.id ?? 0);
  await insertLotChange(client, { lotId, transactionId, kind: 'refund-returned', credits, paidMinor });
  return transactionId;
}

/**
 * Credits of refunded work are unused again, although their payment may already be back at the bank.
 * @throws ApiError conflict if this is less than requested
 */
function refundableCredits(of: { unused: bigint; left: bigint; main: bigint }, wanted: Nanos | null): Nanos {
  const smallest = [of.unused, of.left, of.main].reduce((a, b) => (a < b ? a : b));
  const most = nanos(smallest > 0n ? smallest : 0n);
  const amount = wanted ?? most;
  if (amount > 0n && amount <= most) return amount;
  const message = `At most ${formatAmount(most)} of this top-up can be refunded: the rest is used, held or gone.`;
  throw new ApiError('conflict', message, { param: 'credits' });
}

async function accountOf(client: pg.ClientBase, topupId: string): Promise<string> {
  const { rows } = await client.query<{ accountId: string }>(
    'SELECT account_id AS "accountId" FROM topups WHERE id = $1',
    [topupId],
  );
  if (!rows[0]) throw new ApiError('not_found', 'There is no such top-up.');
  return rows[0].accountId;
}

/** The refund that this request made before, or null. @throws ApiError conflict if it had another amount */
export async function findRepeatedRefund(
  client: pg.ClientBase,
  { topupId, requestId, credits }: Pick<TopupRefundRequest, 'topupId' | 'requestId' | 'credits'>,
): Promise<TopupRefund | null> {
  const { rows } = await client.query<TopupRefund>(`${REFUNDS} WHERE r.topup_id = $1 AND r.request_id = $2`, [
    topupId,
    requestId,
  ]);
  const existing = rows[0] ?? null;
  if (!existing || credits === null || credits === existing.credits) return existing;
  throw new ApiError('conflict', 'This requestId refunded another amount.', { param: 'requestId' });
}

const REFUNDS = `SELECT r.id, r.topup_id AS "topupId", r.account_id AS "accountId", t.provider, t.payment_id AS "paymentId",
    t.currency, r.credits, r.paid_minor AS "paidMinor", r.state, r.provider_refund_id AS "providerRefundId",
    r.failure, r.transaction_id AS "transactionId"
  FROM topup_refunds r JOIN topups t ON t.id = r.topup_id`;
