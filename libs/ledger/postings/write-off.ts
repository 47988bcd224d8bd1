import type pg from 'pg';
import { withoutAddresses } from '#identity/redaction.js';
import { formatAmount, nanos } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { settleDebt } from './debt.js';
import { insertLotChange, unusedOfPosting } from '../lots/lots.js';
import { lockOutflows, takeOutflow } from './outflow.js';
import { type LockedAccount, lockBalance, post } from './posting.js';
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
  /** Chosen by the caller; the same again gives the same answer. */
  requestId: string;
}

export interface WriteOffReversalRequest {
  /** What is reversed. */
  writeOffId: string;
  note: string;
  requestedBy: string;
  approvedBy: string | null;
  requestId: string;
}

export interface WriteOff extends Omit<WriteOffRequest, 'amount'> {
  id: string;
  /** Nanos that one person could let out alone that day. */
  aloneLimit: bigint;
  /** Nanos: above 0 what was given up, below 0 what is owed again by a reversal. */
  amount: bigint;
  /** Month of UTC, such as 2026-01: an account has one write-off in each, reversed or not. */
  period: string;
  /** The write-off that this one reverses. */
  reversesId: string | null;
  /** The one that reverses this one. */
  reversedById: string | null;
  transactionId: bigint;
  recordedAt: Date;
}

/** Nothing was written. */
export class WriteOffRefused extends Error {
  constructor(
    readonly code:
      | 'unknown_ticket'
      | 'unknown_write_off'
      | 'no_debt'
      | 'beyond_debt'
      | 'once_a_month'
      | 'second_person'
      | 'reversed'
      | 'conflict',
    message: string,
  ) {
    super(message);
    this.name = 'WriteOffRefused';
  }
}

const COLUMNS = `w.id, w.account_id AS "accountId", w.ticket_id AS "ticketId", w.amount, w.period, w.note,
  w.reverses_id AS "reversesId", (SELECT r.id FROM write_offs r WHERE r.reverses_id = w.id) AS "reversedById",
  w.requested_by AS "requestedBy", w.approved_by AS "approvedBy", w.alone_limit AS "aloneLimit", w.request_id AS "requestId",
  w.transaction_id AS "transactionId", w.recorded_at AS "recordedAt"`;

/**
 * Gives up the debt of an account, or a part of it: Dr baddebt / Cr main, with a lot that nobody paid for, which covers what
 * was used beyond the credits. Once for an account and month. At 0 the freeze of the debt ends.
 * @throws WriteOffRefused, UnknownAccount
 */
export async function writeOff(client: pg.ClientBase, request: WriteOffRequest): Promise<WriteOff> {
  const { accountId } = request;
  await lockOutflows(client, request.requestedBy);
  const account = await lockTicketAndAccount(client, request);
  const existing = await findWriteOff(client, request);
  if (existing?.reversesId === null) return existing;
  if (existing) throw new WriteOffRefused('conflict', 'This requestId was used for a reversal.');
  const amount = amountOf(request.amount, account.main);
  const period = await openMonth(client, accountId);
  const aloneLimit = await requireSecondPerson(client, { ...request, amount });
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
  return finish(client, account, { ...request, aloneLimit, amount, period, transactionId, reversesId: null });
}

/**
 * Reverses a write-off whole, once, by its opposite that is linked to it: Dr main / Cr baddebt, below zero if it must be,
 * which freezes the account. What is left of its lot goes; what that had covered is a debt again, and what is paid for the
 * credits that cover it later makes up for the loss of its chargeback.
 * @throws WriteOffRefused
 */
export async function reverseWriteOff(
  client: pg.ClientBase,
  request: WriteOffReversalRequest,
): Promise<WriteOff> {
  const original = await readWriteOff(client, request.writeOffId);
  if (!original) throw new WriteOffRefused('unknown_write_off', 'There is no such write-off.');
  const { id, ticketId, accountId, period, transactionId: linkedId } = original;
  await lockOutflows(client, request.requestedBy);
  const account = await lockTicketAndAccount(client, original);
  const reversal = { ...request, ticketId, accountId, amount: -original.amount };
  const existing = await findWriteOff(client, reversal);
  if (existing?.reversesId === id) return existing;
  if (existing) throw new WriteOffRefused('conflict', 'This requestId was used for another write-off.');
  await requireReversible(client, original);
  const aloneLimit = await requireSecondPerson(client, reversal);
  const unused = await unusedOfPosting(client, account, linkedId);
  const transactionId = await post(client, {
    kind: 'write-off-reversed',
    reference: `write-off-reversed:${id}`,
    accountId,
    linkedId,
    movements: [
      { account, purpose: 'main', amount: reversal.amount },
      { code: 'baddebt', commodity: 'CRD', amount: original.amount },
    ],
  });
  if (unused.credits > 0n) {
    const change = { lotId: unused.lotId, credits: -unused.credits, paidMinor: 0n };
    await insertLotChange(client, { ...change, transactionId, kind: 'write-off-reversed' });
  }
  return finish(client, account, { ...reversal, aloneLimit, period, transactionId, reversesId: id });
}

/** Locks the ticket, then the balances. */
async function lockTicketAndAccount(
  client: pg.ClientBase,
  { ticketId, accountId }: Pick<WriteOff, 'ticketId' | 'accountId'>,
): Promise<LockedAccount> {
  const ticket = await client.query('SELECT FROM tickets WHERE id = $1 FOR NO KEY UPDATE', [ticketId]);
  if (ticket.rowCount === 0) throw new WriteOffRefused('unknown_ticket', 'There is no such ticket.');
  return lockBalance(client, accountId);
}

/** @returns what one person may let out alone in a day */
async function requireSecondPerson(
  client: pg.ClientBase,
  wanted: Pick<WriteOff, 'accountId' | 'amount' | 'requestedBy' | 'approvedBy' | 'requestId'>,
): Promise<bigint> {
  const { accountId, amount, requestedBy: actor, approvedBy, requestId } = wanted;
  const reference = `write-off:${requestId}`;
  const { taken, limit } = await takeOutflow(client, {
    kind: 'write-off',
    actor,
    approvedBy,
    amount,
    reference,
    accountId,
  });
  if (taken) return limit;
  const message = `One person gives up ${formatAmount(nanos(limit))} USD in a day: another one must agree.`;
  throw new WriteOffRefused('second_person', message);
}

async function requireReversible(client: pg.ClientBase, original: WriteOff): Promise<void> {
  if (original.reversesId !== null)
    throw new WriteOffRefused('reversed', 'A reversal is not reversed: give the debt up again.');
  const { rowCount } = await client.query('SELECT FROM write_offs WHERE reverses_id = $1', [original.id]);
  if (rowCount !== 0) throw new WriteOffRefused('reversed', 'The write-off has been reversed already.');
}

async function finish(
  client: pg.ClientBase,
  account: LockedAccount,
  made: Omit<WriteOff, 'id' | 'reversedById' | 'recordedAt'>,
): Promise<WriteOff> {
  const id = newId();
  await client.query(
    `INSERT INTO write_offs (id, account_id, period, amount, note, ticket_id, reverses_id, requested_by, approved_by,
       alone_limit, request_id, transaction_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      id,
      made.accountId,
      made.period,
      made.amount,
      made.note,
      made.ticketId,
      made.reversesId,
      made.requestedBy,
      made.approvedBy,
      made.aloneLimit,
      made.requestId,
      made.transactionId,
    ],
  );
  await settleDebt(client, account);
  return (await readWriteOff(client, id)) as WriteOff;
}

/** One write-off or reversal, or null. */
export async function readWriteOff(database: pg.Pool | pg.ClientBase, id: string): Promise<WriteOff | null> {
  const { rows } = await database.query<WriteOff>(`SELECT ${COLUMNS} FROM write_offs w WHERE w.id = $1`, [
    id,
  ]);
  return rows[0] ? exact(rows[0]) : null;
}

/**
 * The write-off that this request made before, or null.
 * @throws WriteOffRefused conflict when the request id was used for something else.
 */
async function findWriteOff(
  database: pg.Pool | pg.ClientBase,
  request: Omit<WriteOffRequest, 'approvedBy'>,
): Promise<WriteOff | null> {
  const { rows } = await database.query<WriteOff>(
    `SELECT ${COLUMNS} FROM write_offs w WHERE w.requested_by = $1 AND w.request_id = $2`,
    [request.requestedBy, request.requestId],
  );
  const found = rows[0] && exact(rows[0]);
  if (!found) return null;
  const isSame =
    found.accountId === request.accountId &&
    found.ticketId === request.ticketId &&
    found.note === withoutAddresses(request.note) &&
    (request.amount === null || found.amount === request.amount);
  if (isSame) return found;
  throw new WriteOffRefused('conflict', 'This requestId was used for another write-off.');
}

/** Write-offs and their reversals, newest first; one more than the limit if there are more. */
export async function listWriteOffs(
  database: pg.Pool | pg.ClientBase,
  page: { limit: number; beforeId: string | null; accountId?: string | undefined },
): Promise<WriteOff[]> {
  const { rows } = await database.query<WriteOff>(
    `SELECT ${COLUMNS} FROM write_offs w WHERE ($2::text IS NULL OR w.id < $2) AND ($3::text IS NULL OR w.account_id = $3)
     ORDER BY w.id DESC LIMIT $1`,
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
