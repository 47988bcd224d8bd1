import type pg from 'pg';
import { z } from 'zod';
import { lockOne } from '#database/locks.js';
import { audit } from '#identity/audit-log.js';
import { refuseOwnInterest } from '#identity/own-interest.js';
import type { TopupResult } from '#ledger/postings/topup.js';
import { formatAmount, type Nanos, parseAmount } from '#money/amount.js';
import { ApiError } from '#platform/errors.js';
import { topupRates } from '#topup/conversion.js';
import type { Done } from '#approvals/approval.service.js';
import { convertForAccount, rateInForce } from '#topup/account-rates.js';
import { viewPayment } from './payment.fields.js';
import {
  type FinanceRequest,
  creditOrRefuse,
  type FinanceAuthor,
  requireAccount,
  requireHouseCurrency,
  requireLeastTopup,
} from './finance-credit.js';
import { LimitedCredit, type LimitedCreditParts } from './limited-credit.js';

export interface Transfer {
  /** The account; or the order that it pays. */
  accountId: string | null;
  orderId: string | null;
  /** The bank's reference, which is credited only once. */
  paymentId: string;
  paidMinor: bigint;
  /** The credits, if their price was rounded up; by default everything that the payment buys. */
  credits?: Nanos;
  currency: string;
  /** The UTC day on which the bank received it, such as 2026-01-31; null: now. */
  valueDate: string | null;
  reason: string;
}

const transferPayload = z.object({
  accountId: z.string(),
  orderId: z.string().nullable(),
  paymentId: z.string(),
  paidMinor: z.string(),
  currency: z.string(),
  credits: z.string(),
  rate: z.enum(topupRates),
  valueDate: z.string().nullable().optional(),
});
type TransferPayload = z.infer<typeof transferPayload>;

const ORDER_PAID = `UPDATE topup_orders SET state = 'paid', payment_id = $2, topup_id = $3, paid_at = now()
  WHERE id = $1`;

/** Manually recorded bank transfers, by two people above the limit. */
export class TransferService {
  private readonly credits: LimitedCredit<TransferPayload>;

  constructor(private readonly parts: LimitedCreditParts) {
    this.credits = new LimitedCredit(parts, {
      kind: 'topup.manual',
      payload: transferPayload,
      subjectOf: ({ paymentId }) => `payment:manual:${paymentId}`,
      credit: (client, payload, by) => this.credit(client, payload, by),
    });
  }

  /** Credits a bank transfer. Above a person's daily limit, a second one must agree first. */
  recordTransfer(transfer: Transfer, asking: FinanceRequest): Promise<Done<TopupResult>> {
    const plan = async (client: pg.ClientBase) => {
      await lockTransfer(client, transfer);
      const repeated = await findTransfer(client, transfer);
      const payload = repeated ?? (await this.planTransfer(client, transfer));
      await refuseOwnInterest(client, asking.actor, payload.accountId);
      const credits = parseAmount(payload.credits);
      return { payload, credits, reason: transfer.reason, isRepeated: repeated !== null };
    };
    return this.credits.creditOrAsk(plan, asking);
  }

  /** An order is paid exactly or not at all. A transfer without one buys what it can. */
  private async planTransfer(client: pg.ClientBase, transfer: Transfer): Promise<TransferPayload> {
    const { paymentId, paidMinor, currency, orderId } = transfer;
    requireHouseCurrency(currency, this.parts.config.payments.currency);
    const { valueDate } = transfer;
    const paid = { paymentId, currency, paidMinor: paidMinor.toString(), valueDate };
    if (orderId !== null) return { ...(await planOrder(client, { orderId, paidMinor, valueDate })), ...paid };
    const accountId = transfer.accountId as string;
    await requireAccount(client, accountId);
    const { rate, ...bought } = await convertForAccount(client, accountId, { payMinor: paidMinor });
    const { credits = bought.credits } = transfer;
    requireLeastTopup({ credits }, 'paid');
    return { ...paid, accountId, orderId, credits: formatAmount(credits), rate };
  }

  private async credit(
    client: pg.ClientBase,
    payload: TransferPayload,
    by: FinanceAuthor,
  ): Promise<TopupResult> {
    const { accountId, orderId, paymentId, currency, rate, valueDate = null } = payload;
    await lockTransfer(client, payload);
    if (orderId !== null) await lockPayableOrder(client, orderId, paymentId);
    const amounts = { credits: parseAmount(payload.credits), paidMinor: BigInt(payload.paidMinor) };
    const paidAt = valueDate && `${valueDate}T00:00:00Z`;
    const paid = { accountId, orderId, paymentId, currency, rate, paidAt };
    const result = await creditOrRefuse(client, { ...paid, ...amounts, provider: 'manual' });
    if (!result.created) return result;
    if (orderId !== null) await client.query(ORDER_PAID, [orderId, paymentId, result.topupId]);
    await audit(client, {
      actor: by.actor,
      action: 'topup.recorded',
      subject: `topup:${result.topupId}`,
      accountId,
      after: payload,
      requestId: by.auditId,
    });
    return result;
  }
}

/** If several people record one transfer at once, all but the first find it recorded, and their limits are not used. */
function lockTransfer(client: pg.ClientBase, { paymentId }: Pick<Transfer, 'paymentId'>): Promise<void> {
  return lockOne(client, 'payment', 'manual', paymentId);
}

/**
 * A transfer that was recorded before, on its own terms, whatever the current rate.
 * @throws ApiError conflict if it had another amount or recipient
 */
async function findTransfer(client: pg.ClientBase, transfer: Transfer): Promise<TransferPayload | null> {
  const { paymentId } = transfer;
  const { rows } = await client.query<
    Omit<TransferPayload, 'credits' | 'paidMinor'> & { credits: bigint; paidMinor: bigint }
  >(
    `SELECT account_id AS "accountId", order_id AS "orderId", payment_id AS "paymentId", paid_minor AS "paidMinor", currency,
       credits, trim_scale(rate)::text AS rate
     FROM topups WHERE provider = 'manual' AND payment_id = $1`,
    [paymentId],
  );
  const stored = rows[0];
  if (!stored) return null;
  const same =
    stored.paidMinor === transfer.paidMinor &&
    stored.currency === transfer.currency &&
    stored.orderId === transfer.orderId &&
    (transfer.accountId === null || stored.accountId === transfer.accountId);
  if (!same)
    throw new ApiError('conflict', `Payment ${paymentId} is already recorded with different details.`);
  return { ...stored, paidMinor: stored.paidMinor.toString(), credits: formatAmount(stored.credits) };
}

interface ManualOrder {
  accountId: string;
  credits: bigint;
  paidMinor: bigint;
  rate: TransferPayload['rate'];
  /** Whether the transfer arrived after the time in which the order could be paid. */
  isLate: boolean;
}

type OrderPayment = { orderId: string } & Pick<Transfer, 'paidMinor' | 'valueDate'>;

async function lockManualOrder(
  client: pg.ClientBase,
  { orderId, valueDate }: OrderPayment,
): Promise<ManualOrder> {
  const { rows } = await client.query<ManualOrder>(
    `SELECT account_id AS "accountId", credits, paid_minor AS "paidMinor", trim_scale(rate)::text AS rate,
       coalesce($2::timestamp AT TIME ZONE 'UTC', now()) > expires_at AS "isLate"
     FROM topup_orders WHERE id = $1 AND provider = 'manual' FOR UPDATE`,
    [orderId, valueDate],
  );
  if (rows[0]) return rows[0];
  const message = 'orderId: there is no such bank transfer order.';
  throw new ApiError('invalid_value', message, { param: 'orderId' });
}

/** An order that has expired is still credited, but only at the rate that the account has now. */
async function planOrder(
  client: pg.ClientBase,
  payment: OrderPayment,
): Promise<Pick<TransferPayload, 'accountId' | 'orderId' | 'credits' | 'rate'>> {
  const { orderId, paidMinor } = payment;
  const order = await lockManualOrder(client, payment);
  if (order.paidMinor !== paidMinor) {
    const message = `The order is for ${viewPayment(order.paidMinor)}: record another amount for its account.`;
    throw new ApiError('conflict', message, { param: 'paid' });
  }
  const { accountId, rate, isLate } = order;
  if (isLate && (await rateInForce(client, accountId)) !== rate) {
    const message = `The order expired, and its rate of ${rate} is out of date. Give the value date if it was paid in time. Otherwise, record the payment for account ${accountId}.`;
    throw new ApiError('conflict', message, { param: 'orderId' });
  }
  return { accountId, orderId, credits: formatAmount(order.credits), rate };
}

/** @throws ApiError conflict for an order that was paid by another transfer */
async function lockPayableOrder(client: pg.ClientBase, orderId: string, paymentId: string): Promise<void> {
  const { rows } = await client.query<{ paymentId: string | null }>(
    'SELECT payment_id AS "paymentId" FROM topup_orders WHERE id = $1 FOR UPDATE',
    [orderId],
  );
  const paidBy = rows[0]?.paymentId ?? null;
  if (paidBy === null || paidBy === paymentId) return;
  throw new ApiError('conflict', `The order was paid by ${paidBy}.`, { param: 'orderId' });
}
