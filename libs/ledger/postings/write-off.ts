import type pg from 'pg';
import { withoutAddresses } from '#identity/redaction.js';
import { formatAmount, nanos } from '#money/amount.js';
import { unusedOfPosting } from '../lots/lots.js';
import {
  correctionColumns,
  type CorrectionRequest,
  exact,
  insertCorrection,
  isReversed,
  lockTicket,
  type ReversalTerms,
  type StoredCorrection,
  takeCorrection,
  takeUnused,
} from './correction.js';
import { lockOutflows } from './outflow.js';
import { type LockedAccount, lockBalance, post } from './posting.js';
import { insertLot } from './topup.js';

export interface WriteOffRequest extends CorrectionRequest {
  /** Nanos, above 0; null: the whole debt. */
  amount: bigint | null;
}

export interface WriteOffReversalRequest extends ReversalTerms {
  /** The id of what is reversed. */
  writeOffId: string;
}

export interface WriteOff extends CorrectionRequest, StoredCorrection {
  /** Nanos. Above 0: written off. Below 0: owed again after a reversal. */
  amount: bigint;
  /** UTC month, such as 2026-01. An account can have one write-off per month, reversed or not. */
  period: string;
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

const COLUMNS = `${correctionColumns('write_offs')}, c.period`;

/**
 * Writes off the debt of an account, or part of it: Dr baddebt / Cr main, with a lot that nobody paid for, which covers what
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
  await takeUnused(client, unused, { transactionId, kind: 'write-off-reversed' });
  return finish(client, account, { ...reversal, aloneLimit, period, transactionId, reversesId: id });
}

/** Locks the ticket, then the balances. */
async function lockTicketAndAccount(
  client: pg.ClientBase,
  { ticketId, accountId }: Pick<WriteOff, 'ticketId' | 'accountId'>,
): Promise<LockedAccount> {
  const isThere = await lockTicket(client, ticketId);
  if (!isThere) throw new WriteOffRefused('unknown_ticket', 'There is no such ticket.');
  return lockBalance(client, accountId);
}

/** @returns how much one person may pay out alone in a day */
async function requireSecondPerson(
  client: pg.ClientBase,
  wanted: Pick<WriteOff, 'accountId' | 'amount' | 'requestedBy' | 'approvedBy' | 'requestId'>,
): Promise<bigint> {
  const { taken, limit } = await takeCorrection(client, 'write-off', wanted);
  if (taken) return limit;
  const message = `One person gives up ${formatAmount(nanos(limit))} credits in a day: another one must agree.`;
  throw new WriteOffRefused('second_person', message);
}

async function requireReversible(client: pg.ClientBase, original: WriteOff): Promise<void> {
  if (original.reversesId !== null)
    throw new WriteOffRefused('reversed', 'A reversal is not reversed: give the debt up again.');
  if (await isReversed(client, 'write_offs', original.id))
    throw new WriteOffRefused('reversed', 'The write-off has been reversed already.');
}

async function finish(
  client: pg.ClientBase,
  account: LockedAccount,
  made: Omit<WriteOff, 'id' | 'reversedById' | 'recordedAt'>,
): Promise<WriteOff> {
  const row = {
    account_id: made.accountId,
    period: made.period,
    amount: made.amount,
    note: made.note,
    ticket_id: made.ticketId,
    reverses_id: made.reversesId,
    requested_by: made.requestedBy,
    approved_by: made.approvedBy,
    alone_limit: made.aloneLimit,
    request_id: made.requestId,
    transaction_id: made.transactionId,
  };
  const id = await insertCorrection(client, account, { table: 'write_offs', row });
  return (await readWriteOff(client, id)) as WriteOff;
}

/** One write-off or reversal, or null. */
export async function readWriteOff(database: pg.Pool | pg.ClientBase, id: string): Promise<WriteOff | null> {
  const { rows } = await database.query<WriteOff>(`SELECT ${COLUMNS} FROM write_offs c WHERE c.id = $1`, [
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
    `SELECT ${COLUMNS} FROM write_offs c WHERE c.requested_by = $1 AND c.request_id = $2`,
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
    `SELECT ${COLUMNS} FROM write_offs c WHERE ($2::text IS NULL OR c.id < $2) AND ($3::text IS NULL OR c.account_id = $3)
     ORDER BY c.id DESC LIMIT $1`,
    [page.limit + 1, page.beforeId, page.accountId ?? null],
  );
  return rows.map((row) => exact(row));
}

function amountOf(asked: bigint | null, main: bigint): bigint {
  if (asked !== null && asked <= 0n) throw new RangeError('a write-off is above 0');
  if (main >= 0n) throw new WriteOffRefused('no_debt', 'The account has no debt.');
  if (asked === null || asked === -main) return -main;
  if (asked < -main) return asked;
  throw new WriteOffRefused('beyond_debt', `The debt is ${formatAmount(nanos(-main))} credits.`);
}

/** The account is locked, so that two at once see each other. */
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
