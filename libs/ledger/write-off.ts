import type pg from 'pg';
import { formatAmount, nanos } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { isTooMuchAlone } from './alone-limit.js';
import { settleDebt } from './debt.js';
import { lockBalance, post } from './posting.js';
import { insertLot } from './topup.js';

export interface WriteOffRequest {
  accountId: string;
  ticketId: string;
  /** Nanos, above 0; null: the whole debt. */
  amount: bigint | null;
  note: string;
  /** `user:{id}` or an operator's name: who asked, and the second person where one was needed. */
  requestedBy: string;
  approvedBy: string | null;
  /** Nanos that one person may adjust an account by in a day, debts that are given up included. */
  aloneLimit: bigint;
  /** Chosen by whoever asks; the same again gives the same answer. */
  requestId: string;
}

export interface WriteOff extends Omit<WriteOffRequest, 'amount'> {
  id: string;
  amount: bigint;
  /** Month of UTC, such as 2026-01: an account has one write-off in each. */
  period: string;
  transactionId: bigint;
  recordedAt: Date;
}

/** Nothing was written. */
export class WriteOffRefused extends Error {
  constructor(
    readonly code:
      'unknown_ticket' | 'no_debt' | 'beyond_debt' | 'once_a_month' | 'second_person' | 'conflict',
    message: string,
  ) {
    super(message);
    this.name = 'WriteOffRefused';
  }
}

const COLUMNS = `id, account_id AS "accountId", ticket_id AS "ticketId", amount, period, note, requested_by AS "requestedBy",
  approved_by AS "approvedBy", alone_limit AS "aloneLimit", request_id AS "requestId", transaction_id AS "transactionId", recorded_at AS "recordedAt"`;

/**
 * Gives up the debt of an account, or a part of it: Dr baddebt / Cr main, with a lot that nobody paid for, which covers what
 * was used beyond the credits. Once for an account and month. At 0 the freeze of the debt ends.
 * @throws WriteOffRefused, UnknownAccount
 */
export async function writeOff(client: pg.ClientBase, request: WriteOffRequest): Promise<WriteOff> {
  const { accountId, ticketId } = request;
  const ticket = await client.query('SELECT FROM tickets WHERE id = $1 FOR NO KEY UPDATE', [ticketId]);
  if (ticket.rowCount === 0) throw new WriteOffRefused('unknown_ticket', 'There is no such ticket.');
  const account = await lockBalance(client, accountId);
  const existing = await findWriteOff(client, request);
  if (existing) return existing;
  const amount = amountOf(request.amount, account.main);
  const period = await openMonth(client, accountId);
  if (await isTooMuchAlone(client, { ...request, amount })) {
    const limit = formatAmount(nanos(request.aloneLimit));
    const message = `One person gives up ${limit} USD of an account in a day: another one must agree.`;
    throw new WriteOffRefused('second_person', message);
  }
  const transactionId = await post(client, {
    kind: 'write-off',
    reference: `write-off:${accountId}:${period}`,
    accountId,
    movements: [
      { code: 'baddebt', commodity: 'CRD', amount: -amount },
      { account, purpose: 'main', amount },
    ],
  });
  await insertLot(client, { accountId, transactionId, topupId: null, credits: amount, paidMinor: 0n });
  const { rows } = await client.query<WriteOff>(
    `INSERT INTO write_offs (id, account_id, period, amount, note, ticket_id, requested_by, approved_by, alone_limit,
       request_id, transaction_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING ${COLUMNS}`,
    [
      ...[newId(), accountId, period, amount, request.note, ticketId, request.requestedBy],
      ...[request.approvedBy, request.aloneLimit, request.requestId, transactionId],
    ],
  );
  await settleDebt(client, account);
  return exact(rows[0] as WriteOff);
}

/**
 * The write-off that this request made before, or null.
 * @throws WriteOffRefused conflict when the request id was used for something else.
 */
export async function findWriteOff(
  database: pg.Pool | pg.ClientBase,
  request: Omit<WriteOffRequest, 'approvedBy' | 'aloneLimit'>,
): Promise<WriteOff | null> {
  const { rows } = await database.query<WriteOff>(
    `SELECT ${COLUMNS} FROM write_offs WHERE requested_by = $1 AND request_id = $2`,
    [request.requestedBy, request.requestId],
  );
  const found = rows[0] && exact(rows[0]);
  if (!found) return null;
  const isSame =
    found.accountId === request.accountId &&
    found.ticketId === request.ticketId &&
    found.note === request.note &&
    (request.amount === null || found.amount === request.amount);
  if (isSame) return found;
  throw new WriteOffRefused('conflict', 'This requestId was used for another write-off.');
}

/** Write-offs, newest first; one more than the limit if there are more. */
export async function listWriteOffs(
  database: pg.Pool | pg.ClientBase,
  page: { limit: number; beforeId: string | null; accountId?: string | undefined },
): Promise<WriteOff[]> {
  const { rows } = await database.query<WriteOff>(
    `SELECT ${COLUMNS} FROM write_offs WHERE ($2::text IS NULL OR id < $2) AND ($3::text IS NULL OR account_id = $3)
     ORDER BY id DESC LIMIT $1`,
    [page.limit + 1, page.beforeId, page.accountId ?? null],
  );
  return rows.map(exact);
}

function exact(row: WriteOff): WriteOff {
  return {
    ...row,
    amount: BigInt(row.amount),
    aloneLimit: BigInt(row.aloneLimit),
    transactionId: BigInt(row.transactionId),
  };
}

function amountOf(asked: bigint | null, main: bigint): bigint {
  if (asked !== null && asked <= 0n) throw new RangeError('a write-off is above 0');
  if (main >= 0n) throw new WriteOffRefused('no_debt', 'The account has no debt.');
  if (asked === null || asked === -main) return -main;
  if (asked < -main) return asked;
  throw new WriteOffRefused('beyond_debt', `The debt is ${formatAmount(nanos(-main))} USD.`);
}

/** The account is locked, so two at once see each other. */
async function openMonth(client: pg.ClientBase, accountId: string): Promise<string> {
  const { rows } = await client.query<{ period: string; isTaken: boolean }>(
    `SELECT month.period, EXISTS (SELECT FROM write_offs w WHERE w.account_id = $1 AND w.period = month.period) AS "isTaken"
     FROM (SELECT to_char(ledger_effective_now() AT TIME ZONE 'UTC', 'YYYY-MM') AS period) AS month`,
    [accountId],
  );
  const { period, isTaken } = rows[0] as { period: string; isTaken: boolean };
  if (isTaken) throw new WriteOffRefused('once_a_month', `The account has a write-off of ${period} already.`);
  return period;
}
