import type pg from 'pg';
import { outboxInsert, outboxRow } from '#bus/outbox.js';
import { topics } from '#bus/topics.js';
import { isDeleted } from '#identity/account.store.js';
import { withoutAddresses } from '#identity/redaction.js';
import { formatAmount, type Nanos, nanos } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { CodedError } from '#platform/errors.js';
import { settleDebt } from '../postings/debt.js';
import { type LockedAccount, lockBalance, post } from '../postings/posting.js';

export interface ChargeRefundRequest {
  chargeId: string;
  /** Above 0; nanos. */
  amount: Nanos;
  /** The customer can read it too. */
  reason: string;
  ticketId: string;
  /** User ids: the requester, and the second person if one was needed. */
  requestedBy: string;
  approvedBy: string | null;
  /** Chosen by the caller. Repeating it gives the same answer. */
  requestId: string;
}

export interface ChargeRefund {
  refundId: string;
  chargeId: string;
  accountId: string;
  /** The first refund of its charge is 1. */
  seq: number;
  amount: Nanos;
  reason: string;
  ticketId: string;
  requestedBy: string;
  approvedBy: string | null;
  transactionId: bigint;
  recordedAt: Date;
}

/** Nothing was written. */
export class ChargeRefundRefused extends CodedError<
  'unknown_charge' | 'not_settled' | 'beyond_settled' | 'deleted' | 'conflict'
> {}

const COLUMNS = `id AS "refundId", charge_id AS "chargeId", account_id AS "accountId", seq, amount, reason,
  ticket_id AS "ticketId", requested_by AS "requestedBy", approved_by AS "approvedBy",
  transaction_id AS "transactionId", recorded_at AS "recordedAt"`;

/** Under the lock of the account's balance, like every change of what its keys spent. */
const UNSPEND = `UPDATE key_spend s SET spent = s.spent - $2 FROM charges c
  WHERE c.id = $1 AND s.key_id = c.key_id AND s.month = date_trunc('month', c.created_at AT TIME ZONE 'UTC')::date`;

/**
 * Refunds part of what a charge settled: Dr usage-refund / Cr main, under the charge's lock, so that its refunds
 * together never exceed the settlement. As with a release, it no longer counts toward the limits of the month of its hold.
 * Runs and announces in the caller's transaction.
 * @throws ChargeRefundRefused
 */
export async function refundCharge(
  client: pg.ClientBase,
  request: ChargeRefundRequest,
): Promise<ChargeRefund> {
  if (request.amount <= 0n) throw new RangeError('a refund is above zero');
  const { accountId, rest, count, taskId } = await lockRefundable(client, request.chargeId);
  const existing = await findRefund(client, request);
  if (existing) return existing;
  if (request.amount > rest) {
    const message = `At most ${formatAmount(rest)} credits of this charge can still be refunded.`;
    throw new ChargeRefundRefused('beyond_settled', message);
  }
  const account = await lockBalance(client, accountId);
  if (await isDeleted(client, accountId))
    throw new ChargeRefundRefused('deleted', 'The account was deleted, so its charges are not refunded.');
  const seq = count + 1;
  const transactionId = await postRefund(client, request, { account, seq });
  const refund = await insertRefund(client, request, { accountId, seq, transactionId });
  await settleDebt(client, account);
  await client.query(UNSPEND, [request.chargeId, request.amount]);
  await announce(client, refund, taskId);
  return refund;
}

function postRefund(
  client: pg.ClientBase,
  { chargeId, amount }: ChargeRefundRequest,
  { account, seq }: { account: LockedAccount; seq: number },
): Promise<bigint> {
  return post(client, {
    kind: 'charge_refund',
    reference: `charge:${chargeId}:refund:${seq}`,
    accountId: account.accountId,
    chargeId,
    movements: [
      { code: 'usage-refund', commodity: 'CRD', amount: -amount },
      { account, purpose: 'main', amount },
    ],
  });
}

/** The refunds of a charge, oldest first. */
export async function chargeRefunds(
  database: pg.Pool | pg.ClientBase,
  chargeId: string,
): Promise<ChargeRefund[]> {
  const { rows } = await database.query<ChargeRefund>(
    `SELECT ${COLUMNS} FROM charge_refunds WHERE charge_id = $1 ORDER BY seq`,
    [chargeId],
  );
  return rows;
}

/**
 * The refund that this request has already made, or null.
 * @throws ChargeRefundRefused conflict if the request id was used for something else
 */
export async function findRefund(
  database: pg.Pool | pg.ClientBase,
  request: ChargeRefundRequest,
): Promise<ChargeRefund | null> {
  const { rows } = await database.query<ChargeRefund>(
    `SELECT ${COLUMNS} FROM charge_refunds WHERE requested_by = $1 AND request_id = $2`,
    [request.requestedBy, request.requestId],
  );
  const found = rows[0];
  if (!found) return null;
  const { chargeId, amount, reason, ticketId } = found;
  const isSame =
    chargeId === request.chargeId &&
    amount === request.amount &&
    reason === withoutAddresses(request.reason) &&
    ticketId === request.ticketId;
  if (isSame) return found;
  throw new ChargeRefundRefused('conflict', 'This requestId was used for another refund.');
}

export interface Refundable {
  accountId: string;
  taskId: string | null;
  /** How many refunds it has. */
  count: number;
  /** What can still be refunded. */
  rest: Nanos;
}

/** Locks a charge, before all balances, and returns what can still be refunded. @throws ChargeRefundRefused */
export async function lockRefundable(client: pg.ClientBase, chargeId: string): Promise<Refundable> {
  const charges = await client.query<{
    accountId: string;
    state: string;
    settled: Nanos;
    taskId: string | null;
  }>(
    `SELECT account_id AS "accountId", state, coalesce(settled, 0) AS settled, task_id AS "taskId"
     FROM charges WHERE id = $1 FOR UPDATE`,
    [chargeId],
  );
  const charge = charges.rows[0];
  if (!charge) throw new ChargeRefundRefused('unknown_charge', 'There is no such charge.');
  const { accountId, state, settled, taskId } = charge;
  if (state !== 'settled') {
    throw new ChargeRefundRefused('not_settled', `The charge is ${state}: there is nothing to refund.`);
  }
  const refunds = await client.query<{ count: number; refunded: bigint }>(
    `SELECT count(*)::int AS count, coalesce(sum(amount), 0)::bigint AS refunded FROM charge_refunds WHERE charge_id = $1`,
    [chargeId],
  );
  const { count = 0, refunded = 0n } = refunds.rows[0] ?? {};
  return { accountId, taskId, count, rest: nanos(settled - refunded) };
}

const INSERT_REFUND = `INSERT INTO charge_refunds (id, charge_id, seq, account_id, amount, reason, ticket_id, requested_by, approved_by,
    request_id, transaction_id)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING ${COLUMNS}`;

async function insertRefund(
  client: pg.ClientBase,
  request: ChargeRefundRequest,
  made: { accountId: string; seq: number; transactionId: bigint },
): Promise<ChargeRefund> {
  const { chargeId, amount, reason, ticketId, requestedBy, approvedBy, requestId } = request;
  const { accountId, seq, transactionId } = made;
  const { rows } = await client.query<ChargeRefund>(INSERT_REFUND, [
    newId(),
    chargeId,
    seq,
    accountId,
    amount,
    reason,
    ticketId,
    requestedBy,
    approvedBy,
    requestId,
    transactionId,
  ]);
  return rows[0] as ChargeRefund;
}

async function announce(client: pg.ClientBase, refund: ChargeRefund, taskId: string | null): Promise<void> {
  const { refundId, chargeId, accountId, amount, reason, recordedAt } = refund;
  const row = outboxRow(topics.chargeRefunded, {
    chargeId,
    accountId,
    kind: 'refund',
    amount: formatAmount(nanos(amount)),
    reason: { code: 'refunded', message: reason },
    taskId,
    refundId,
    refundedAt: recordedAt.toISOString(),
  });
  await client.query(outboxInsert('billing', [row]));
}
