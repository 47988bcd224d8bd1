import type pg from 'pg';
import { formatAmount, nanos } from '#money/amount.js';
import { unusedOfPosting } from '../lots/lots.js';
import {
  type CorrectionKind,
  CorrectionRefused,
  type CorrectionRequest,
  findCorrection,
  insertCorrection,
  lockTicket,
  readCorrection,
  requireReversible,
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
  /** The most that the whole debt may be; the rest stays owed. */
  atMost?: bigint | undefined;
}

export interface WriteOffReversalRequest extends ReversalTerms {
  writeOffId: string;
}

export interface WriteOff extends CorrectionRequest, StoredCorrection {
  /** Nanos. Above 0: written off. Below 0: owed again after a reversal. */
  amount: bigint;
  /** UTC month, such as 2026-01. An account can have one write-off per month, reversed or not. */
  period: string;
}

export const WRITE_OFFS: CorrectionKind = {
  noun: 'write-off',
  table: 'write_offs',
  own: ['period'],
  does: 'gives up',
  again: 'give the debt up',
};

/**
 * Writes off the debt of an account, or part of it: Dr baddebt / Cr main, with a lot that nobody paid for, which covers
 * what was used beyond the credits. Possible once per account and month. At 0, the freeze of the debt ends.
 * @throws CorrectionRefused, UnknownAccount
 */
export async function writeOff(client: pg.ClientBase, request: WriteOffRequest): Promise<WriteOff> {
  const { accountId } = request;
  await lockOutflows(client, request.requestedBy);
  const account = await lockTicketAndAccount(client, request);
  const existing = await findCorrection<WriteOff>(client, WRITE_OFFS, request);
  if (existing?.reversesId === null) return existing;
  if (existing) throw new CorrectionRefused('conflict', 'This requestId was used for a reversal.');
  const amount = amountOf(request, account.main);
  const period = await openMonth(client, accountId);
  const aloneLimit = await takeCorrection(client, WRITE_OFFS, { ...request, amount });
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
  const made = { ...request, aloneLimit, amount, period, transactionId, reversesId: null };
  return insertCorrection<WriteOff>(client, account, { kind: WRITE_OFFS, made });
}

/**
 * Reverses a write-off completely, once, with a linked opposite: Dr main / Cr baddebt, below zero if necessary, which
 * freezes the account. The rest of its lot is removed, and what that had covered is a debt again. The payment for
 * credits that cover it later makes up for the loss of its chargeback.
 * @throws CorrectionRefused
 */
export async function reverseWriteOff(
  client: pg.ClientBase,
  request: WriteOffReversalRequest,
): Promise<WriteOff> {
  const original = await readWriteOff(client, request.writeOffId);
  if (!original) throw new CorrectionRefused('unknown_write_off', 'There is no such write-off.');
  const { id, ticketId, accountId, period, transactionId: linkedId } = original;
  await lockOutflows(client, request.requestedBy);
  const account = await lockTicketAndAccount(client, original);
  const reversal = { ...request, ticketId, accountId, amount: -original.amount };
  const existing = await findCorrection<WriteOff>(client, WRITE_OFFS, reversal);
  if (existing?.reversesId === id) return existing;
  if (existing) throw new CorrectionRefused('conflict', 'This requestId was used for another write-off.');
  await requireReversible(client, WRITE_OFFS, original);
  const aloneLimit = await takeCorrection(client, WRITE_OFFS, reversal);
  const unused = await unusedOfPosting(client, account, linkedId);
  const transactionId = await postReversal(client, account, original);
  await takeUnused(client, unused, { transactionId, kind: 'write-off-reversed' });
  const made = { ...reversal, aloneLimit, period, transactionId, reversesId: id };
  return insertCorrection<WriteOff>(client, account, { kind: WRITE_OFFS, made });
}

function postReversal(
  client: pg.ClientBase,
  account: LockedAccount,
  { id, accountId, amount, transactionId }: WriteOff,
): Promise<bigint> {
  return post(client, {
    kind: 'write-off-reversed',
    reference: `write-off-reversed:${id}`,
    accountId,
    linkedId: transactionId,
    movements: [
      { account, purpose: 'main', amount: -amount },
      { code: 'baddebt', commodity: 'CRD', amount },
    ],
  });
}

/** Locks the ticket, then the balances. */
async function lockTicketAndAccount(
  client: pg.ClientBase,
  { ticketId, accountId }: Pick<WriteOff, 'ticketId' | 'accountId'>,
): Promise<LockedAccount> {
  await lockTicket(client, ticketId);
  return lockBalance(client, accountId);
}

export function readWriteOff(database: pg.Pool | pg.ClientBase, id: string): Promise<WriteOff | null> {
  return readCorrection(database, WRITE_OFFS, id);
}

function amountOf({ amount: asked, atMost }: WriteOffRequest, main: bigint): bigint {
  if (asked !== null && asked <= 0n) throw new RangeError('a write-off is above 0');
  if (main >= 0n) throw new CorrectionRefused('no_debt', 'The account has no debt.');
  if (asked === null) return atMost !== undefined && atMost < -main ? atMost : -main;
  if (asked <= -main) return asked;
  throw new CorrectionRefused('beyond_debt', `The debt is ${formatAmount(nanos(-main))} credits.`);
}

/** The account is locked, so that two concurrent ones see each other. */
async function openMonth(client: pg.ClientBase, accountId: string): Promise<string> {
  const { rows } = await client.query<{ period: string; isTaken: boolean }>(
    `SELECT month.period, EXISTS (SELECT FROM write_offs w WHERE w.account_id = $1 AND w.period = month.period) AS "isTaken"
     FROM (SELECT to_char(ledger_effective_now() AT TIME ZONE 'UTC', 'YYYY-MM') AS period) AS month`,
    [accountId],
  );
  const { period, isTaken } = rows[0] as { period: string; isTaken: boolean };
  if (isTaken)
    throw new CorrectionRefused('once_a_month', `The account has a write-off of ${period} already.`);
  return period;
}
