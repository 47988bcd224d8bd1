import type pg from 'pg';
import { outboxInsert, outboxRow } from '#bus/outbox.js';
import { topics } from '#bus/topics.js';
import { earnedReward, findInviter } from '#invites/invitations.js';
import { isClosing } from '#identity/account.store.js';
import { formatAmount, formatDecimal, type Nanos, nanos, parseDecimal } from '#money/amount.js';
import { ApiError, NamedError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import type { TopupRate } from '#topup/conversion.js';
import { settleDebt } from './debt.js';
import { type LockedAccount, lockBalances, post } from './posting.js';
import { returnReward } from './reward-clawback.js';
import { collectRewardDebt } from './reward-debt.js';

export type PaymentProviderName = 'stripe' | 'manual' | 'sandbox';

export interface TopupRequest {
  accountId: string;
  provider: PaymentProviderName;
  /** The provider's own id of the payment, which is credited only once. */
  paymentId: string;
  credits: Nanos;
  /** The payment in minor units. All of it is deferred revenue. */
  paidMinor: bigint;
  rate: TopupRate;
  /** ISO 4217. */
  currency: string;
  /** The order that it pays, if any. */
  orderId?: string | null;
  /** When it was paid, ISO 8601. Now by default. */
  paidAt?: string | null;
  /** The payment is already in suspense, and leaves it. */
  fromSuspense?: boolean;
  continues?: Continued | null;
}

/** The money was a top-up before, and had its reward there, if any. */
export interface Continued {
  /** The first one. */
  topupId: string;
  /** The refund of the same account that failed after its end: what it took of the reward comes back. */
  refundId: string | null;
}

export interface TopupResult {
  topupId: string;
  /** False if the same payment had been recorded before. */
  created: boolean;
  credits: Nanos;
  /** Main balance afterwards. */
  balance: Nanos;
  transactionId: bigint;
}

/** The payment id was recorded before with another account, amount or rate. Nothing was written. */
export class TopupConflict extends NamedError {
  constructor(provider: string, paymentId: string) {
    super(`Payment ${paymentId} of ${provider} is already recorded with other details.`);
  }
}

/**
 * Credits a payment once, in the caller's transaction: Dr issued:credit / Cr main, Dr psp / Cr deferred-revenue, a lot
 * with its payment, and the reward of the account's inviter, unless the money had its reward before. The same payment again
 * gives the same answer. Locks the balances of both accounts.
 * @throws TopupConflict, UnknownAccount, EffectiveTimeRefused; ApiError account_closing
 */
export async function creditTopup(client: pg.ClientBase, request: TopupRequest): Promise<TopupResult> {
  const { accountId, continues = null } = request;
  const inviterId = await findInviter(client, accountId);
  const locked = await lockBalances(client, inviterId === null ? [accountId] : [accountId, inviterId]);
  const account = locked.get(accountId) as LockedAccount;
  const existing = await findTopup(client, request);
  if (existing) return { ...existing, created: false, balance: account.main };
  if (await isClosing(client, accountId))
    throw new ApiError('account_closing', 'The account is being deleted and cannot be topped up.');
  const transactionId = await postTopup(client, request, account);
  const topupId = await insertTopup(client, request, transactionId);
  if (continues === null && inviterId !== null) {
    const inviter = locked.get(inviterId) as LockedAccount;
    const { credits, paidAt = null } = request;
    await rewardInviter(client, { topupId, inviteeId: accountId, inviter, credits, paidAt });
  }
  const refundId = continues?.refundId ?? null;
  if (refundId !== null)
    await returnReward(client, locked, { reversal: `topup:${topupId}`, undo: `refund:${refundId}` });
  await settleDebt(client, account);
  await collectRewardDebt(client, account);
  await announceTopup(client, request, { topupId, balance: account.main });
  return { topupId, created: true, credits: request.credits, balance: account.main, transactionId };
}

/** In the crediting transaction, so that the announcement exists if and only if the credit does. */
async function announceTopup(
  client: pg.ClientBase,
  { accountId, provider, credits }: TopupRequest,
  { topupId, balance }: { topupId: string; balance: Nanos },
): Promise<void> {
  const { rows } = await client.query<{ at: Date }>('SELECT recorded_at AS at FROM topups WHERE id = $1', [
    topupId,
  ]);
  const row = outboxRow(topics.topupCredited, {
    topupId,
    accountId,
    provider,
    credits: formatAmount(credits),
    balance: formatAmount(balance),
    creditedAt: (rows[0] as { at: Date }).at.toISOString(),
  });
  await client.query(outboxInsert('billing', [row]));
}

async function findTopup(
  client: pg.ClientBase,
  request: TopupRequest,
): Promise<{ topupId: string; credits: Nanos; transactionId: bigint } | null> {
  const { rows } = await client.query<
    Record<'id' | 'accountId' | 'currency' | 'rate', string> &
      Record<'credits' | 'paidMinor' | 'transactionId', bigint>
  >(
    `SELECT id, account_id AS "accountId", credits, paid_minor AS "paidMinor", currency,
       trim_scale(rate)::text AS rate, transaction_id AS "transactionId"
     FROM topups WHERE provider = $1 AND payment_id = $2`,
    [request.provider, request.paymentId],
  );
  const row = rows[0];
  if (!row) return null;
  const same =
    row.accountId === request.accountId &&
    row.credits === request.credits &&
    row.paidMinor === request.paidMinor &&
    row.currency === request.currency &&
    row.rate === formatDecimal(parseDecimal(request.rate));
  if (!same) throw new TopupConflict(request.provider, request.paymentId);
  return { topupId: row.id, credits: request.credits, transactionId: row.transactionId };
}

/** One transaction of both commodities. */
function postTopup(client: pg.ClientBase, request: TopupRequest, account: LockedAccount): Promise<bigint> {
  const { provider, paymentId, credits, paidMinor } = request;
  return post(client, {
    kind: 'topup',
    reference: `topup:${provider}:${paymentId}`,
    accountId: account.accountId,
    effectiveAt: request.paidAt ?? null,
    movements: [
      { code: 'issued:credit', commodity: 'CRD', amount: -credits },
      { account, purpose: 'main', amount: credits },
      {
        code: request.fromSuspense ? 'suspense:pay' : `psp:${provider}`,
        commodity: 'PAY',
        amount: -paidMinor,
      },
      { code: 'deferred-revenue', commodity: 'PAY', amount: paidMinor },
    ],
  });
}

const INSERT_TOPUP = `WITH newest AS (SELECT id, name FROM account_names WHERE account_id = $2 ORDER BY id DESC LIMIT 1),
    named AS (INSERT INTO account_names (account_id, name) SELECT id, name FROM accounts
      WHERE id = $2 AND name IS DISTINCT FROM (SELECT name FROM newest) RETURNING id)
  INSERT INTO topups (id, account_id, provider, payment_id, credits, paid_minor, currency, rate, transaction_id, order_id,
    continues, billing_details_id, account_name_id)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, (SELECT max(id) FROM billing_details WHERE account_id = $2),
    coalesce((SELECT id FROM named), (SELECT id FROM newest)))`;

async function insertTopup(
  client: pg.ClientBase,
  request: TopupRequest,
  transactionId: bigint,
): Promise<string> {
  const topupId = newId();
  const { accountId, credits, paidMinor } = request;
  await client.query(INSERT_TOPUP, [
    topupId,
    accountId,
    request.provider,
    request.paymentId,
    credits,
    paidMinor,
    request.currency,
    request.rate,
    transactionId,
    request.orderId ?? null,
    request.continues?.topupId ?? null,
  ]);
  await insertLot(client, { accountId, transactionId, topupId, credits, paidMinor });
  return topupId;
}

/** A lot of credits, queued behind the account's others. */
export async function insertLot(
  client: pg.ClientBase,
  lot: {
    accountId: string;
    transactionId: bigint;
    topupId: string | null;
    credits: bigint;
    paidMinor: bigint;
  },
): Promise<void> {
  await client.query(
    `INSERT INTO credit_lots (account_id, transaction_id, topup_id, credits, paid_minor) VALUES ($1, $2, $3, $4, $5)`,
    [lot.accountId, lot.transactionId, lot.topupId, lot.credits, lot.paidMinor],
  );
}

interface InvitedTopup {
  topupId: string;
  inviteeId: string;
  inviter: LockedAccount;
  credits: Nanos;
  paidAt: string | null;
}

/** Posts the inviter's reward for the top-up, unless the inviter's account is being deleted. */
async function rewardInviter(
  client: pg.ClientBase,
  { topupId, inviteeId, inviter, credits, paidAt }: InvitedTopup,
): Promise<void> {
  if (await isClosing(client, inviter.accountId)) return;
  const { ordinal, amount } = await earnedReward(client, { inviteeId, credits });
  if (amount === 0n) return;
  const transactionId = await post(client, {
    kind: 'invite-reward',
    reference: `invite-reward:${inviteeId}:${ordinal}`,
    accountId: inviter.accountId,
    effectiveAt: paidAt,
    movements: [
      { code: 'issued:promo', commodity: 'CRD', amount: -amount },
      { account: inviter, purpose: 'invite', amount: nanos(amount) },
    ],
  });
  await client.query(
    `INSERT INTO invite_rewards (id, invitee_account_id, inviter_account_id, ordinal, topup_id, amount, transaction_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [newId(), inviteeId, inviter.accountId, ordinal, topupId, amount, transactionId],
  );
  await collectRewardDebt(client, inviter);
}
