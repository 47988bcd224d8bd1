import type pg from 'pg';
import { databaseNowMs } from '#database/database.js';
import { isClosing } from '#identity/account.store.js';
import { heldBetween } from '#ledger/postings/effective-time.js';
import type { SuspenseWhy } from '#ledger/postings/suspense.js';
import { creditTopup } from '#ledger/postings/topup.js';
import { nanos } from '#money/amount.js';
import type { TopupRate } from '#topup/conversion.js';
import { viewPayment } from '../payment.fields.js';
import type { EventOutcome } from '../payment.notices.js';
import { lockPayment, suspend, type ReportedFact } from './reported-fact.js';

type Paid = ReportedFact<'paid'>;

interface LockedOrder {
  id: string;
  accountId: string;
  credits: bigint;
  paidMinor: bigint;
  currency: string;
  rate: TopupRate;
  state: string;
  createdAt: Date;
}

const MARK_PAID = `UPDATE topup_orders SET state = 'paid', payment_id = $2, topup_id = $3, paid_at = now()
  WHERE id = $1 AND state IN ('open', 'expired', 'cancelled')`;

/** Credits the order that a payment pays to the minor unit; any other payment goes to suspense, as for an account being deleted. */
export async function applyPaid(client: pg.PoolClient, paid: Paid): Promise<EventOutcome> {
  const { provider, paymentId } = paid;
  await lockPayment(client, provider, paymentId);
  const order = await lockOrder(client, provider, paid.orderId);
  const known = await isKnown(client, provider, paymentId);
  if (known) return { state: 'ignored', detail: known };
  const why =
    mismatch(order, paid) ?? (order && (await isClosing(client, order.accountId)) ? 'no_order' : null);
  if (why || !order) return suspendPayment(client, paid, { order, why: why ?? 'no_order' });
  const { topupId } = await creditTopup(client, {
    accountId: order.accountId,
    provider,
    paymentId,
    credits: nanos(order.credits),
    paidMinor: order.paidMinor,
    rate: order.rate,
    currency: order.currency,
    orderId: order.id,
    paidAt: heldBetween(paid.reportedAt, order.createdAt, new Date(await databaseNowMs(client))),
  });
  await client.query(MARK_PAID, [order.id, paymentId, topupId]);
  return { state: 'applied', detail: `Order ${order.id} is paid: top-up ${topupId}.` };
}

async function suspendPayment(
  client: pg.PoolClient,
  paid: Paid,
  { order, why }: { order: LockedOrder | null; why: SuspenseWhy },
): Promise<EventOutcome> {
  const { paymentId: reference, amountMinor, currency } = paid;
  if (amountMinor <= 0n) return { state: 'ignored', detail: 'Nothing was paid.' };
  const itemId = await suspend(client, paid, { reference, orderId: order?.id ?? null, amountMinor, why });
  const wanted = order ? `${viewPayment(order.paidMinor)} ${order.currency}` : 'no order';
  const detail = `${viewPayment(amountMinor)} ${currency} was received for ${wanted}, so it is in suspense as ${itemId}.`;
  return { state: 'suspense', detail, alert: why };
}

function mismatch(order: LockedOrder | null, paid: Paid): SuspenseWhy | null {
  if (!order) return 'no_order';
  if (order.currency !== paid.currency) return 'other_currency';
  if (order.paidMinor !== paid.amountMinor) return 'other_amount';
  return ['open', 'expired', 'cancelled'].includes(order.state) ? null : 'paid_twice';
}

async function lockOrder(
  client: pg.PoolClient,
  provider: string,
  orderId: string | null,
): Promise<LockedOrder | null> {
  const { rows } = await client.query<LockedOrder>(
    `SELECT id, account_id AS "accountId", credits, paid_minor AS "paidMinor", currency, trim_scale(rate)::text AS rate, state,
       created_at AS "createdAt"
     FROM topup_orders WHERE id = $1 AND provider = $2 FOR UPDATE`,
    [orderId, provider],
  );
  return rows[0] ?? null;
}

async function isKnown(client: pg.PoolClient, provider: string, paymentId: string): Promise<string | null> {
  const { rows } = await client.query<{ credited: boolean; suspended: boolean }>(
    `SELECT EXISTS (SELECT FROM topups WHERE provider = $1 AND payment_id = $2) AS credited,
       EXISTS (SELECT FROM suspense_items WHERE provider = $1 AND reference = $2 AND amount_minor > 0) AS suspended`,
    [provider, paymentId],
  );
  if (rows[0]?.credited) return `Payment ${paymentId} has been credited before.`;
  if (rows[0]?.suspended) return `Payment ${paymentId} is already in suspense.`;
  return null;
}

/** An order was cancelled or has expired. */
export async function endOrder(
  client: pg.PoolClient,
  { provider, orderId, as }: ReportedFact<'ended'>,
): Promise<EventOutcome> {
  const { rowCount } = await client.query(
    `UPDATE topup_orders SET state = $3 WHERE id = $1 AND provider = $2 AND state = 'open'`,
    [orderId, provider, as],
  );
  if (rowCount === 0) return { state: 'ignored', detail: 'The order was not open.' };
  return { state: 'applied', detail: `Order ${orderId} is ${as}.` };
}
