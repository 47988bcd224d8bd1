import type pg from 'pg';
import { withoutAddresses } from '#identity/redaction.js';
import { formatAmount, nanos } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { settleDebt } from './debt.js';
import { insertLotChange, unusedOfPosting } from '../lots/lots.js';
import { lockOutflows, takeOutflow } from './outflow.js';
import { type LockedAccount, lockBalance, post } from './posting.js';
import { insertLot } from './topup.js';

export const adjustmentReasons = ['goodwill', 'correction', 'migration', 'compensation'] as const;
export type AdjustmentReason = (typeof adjustmentReasons)[number];

export interface AdjustmentRequest {
  accountId: string;
  ticketId: string;
  /** Nanos, not 0: above it for the customer, below it against. */
  amount: bigint;
  reason: AdjustmentReason;
  note: string;
  /** `user:{id}` or an operator's name: who asked, and the second person where one was needed. */
  requestedBy: string;
  approvedBy: string | null;
  /** Chosen by the caller; the same again gives the same answer. */
  requestId: string;
}

export interface ReversalRequest {
  /** What is reversed. */
  adjustmentId: string;
  note: string;
  requestedBy: string;
  approvedBy: string | null;
  requestId: string;
}

export interface Adjustment extends AdjustmentRequest {
  /** Nanos that one person could let out alone that day. */
  aloneLimit: bigint;
  id: string;
  /** The first adjustment of its ticket is 1. */
  seq: number;
  /** The adjustment that this one reverses. */
  reversesId: string | null;
  /** The adjustment that reverses this one. */
  reversedById: string | null;
  transactionId: bigint;
  recordedAt: Date;
}

/** Nothing was written. */
export class AdjustmentRefused extends Error {
  constructor(
    readonly code:
      'unknown_ticket' | 'unknown_adjustment' | 'beyond_balance' | 'second_person' | 'reversed' | 'conflict',
    message: string,
  ) {
    super(message);
    this.name = 'AdjustmentRefused';
  }
}

export const ADJUSTMENT_COLUMNS = `a.id, a.account_id AS "accountId", a.ticket_id AS "ticketId", a.seq, a.reason, a.amount, a.note,
  a.reverses_id AS "reversesId", (SELECT r.id FROM adjustments r WHERE r.reverses_id = a.id) AS "reversedById",
  a.requested_by AS "requestedBy", a.approved_by AS "approvedBy", a.alone_limit AS "aloneLimit", a.request_id AS "requestId",
  a.transaction_id AS "transactionId", a.recorded_at AS "recordedAt"`;

/**
 * Gives an account credit, or takes some: Dr adjust:{reason} / Cr main, or the other way round, in the caller's transaction. A
 * credit brings a lot that nobody paid for; a debit uses lots, and never takes the balance below 0. Locks the ticket, then the
 * balances.
 * @throws AdjustmentRefused, UnknownAccount
 */
export async function adjust(client: pg.ClientBase, request: AdjustmentRequest): Promise<Adjustment> {
  const { accountId, amount } = request;
  if (amount === 0n) throw new RangeError('an adjustment is not 0');
  await lockOutflows(client, request.requestedBy);
  const seq = await nextSeq(client, request.ticketId);
  const account = await lockBalance(client, accountId);
  const existing = await findAdjustment(client, request);
  if (existing) return existing;
  requireBalance(account, amount);
  const aloneLimit = await requireSecondPerson(client, request);
  const transactionId = await postAdjustment(client, { ...request, account, seq, linkedId: null });
  if (amount > 0n) {
    await insertLot(client, { accountId, transactionId, topupId: null, credits: amount, paidMinor: 0n });
  }
  return finish(client, account, { ...request, aloneLimit, seq, transactionId, reversesId: null });
}

/**
 * Reverses an adjustment whole, once, by its opposite that is linked to it. Of a credit what is left of its own lot goes, and
 * what was used of it is taken from other lots; a debit returns what it took.
 * @throws AdjustmentRefused
 */
export async function reverseAdjustment(
  client: pg.ClientBase,
  request: ReversalRequest,
): Promise<Adjustment> {
  const original = await readAdjustment(client, request.adjustmentId);
  if (!original) throw new AdjustmentRefused('unknown_adjustment', 'There is no such adjustment.');
  const { ticketId, accountId, reason, transactionId: linkedId } = original;
  await lockOutflows(client, request.requestedBy);
  const seq = await nextSeq(client, ticketId);
  const account = await lockBalance(client, accountId);
  const reversal = { ...request, ticketId, accountId, reason, amount: -original.amount };
  const existing = await findAdjustment(client, reversal);
  if (existing?.reversesId === original.id) return existing;
  if (existing) throw new AdjustmentRefused('conflict', 'This requestId was used for another adjustment.');
  await requireReversible(client, original);
  requireBalance(account, reversal.amount);
  const aloneLimit = await requireSecondPerson(client, reversal);
  const unused = original.amount > 0n ? await unusedOfPosting(client, account, linkedId) : null;
  const transactionId = await postAdjustment(client, { ...reversal, account, seq, linkedId });
  if (unused && unused.credits > 0n) {
    const change = { lotId: unused.lotId, credits: -unused.credits, paidMinor: 0n };
    await insertLotChange(client, { ...change, transactionId, kind: 'adjustment-reversed' });
  }
  return finish(client, account, { ...reversal, aloneLimit, seq, transactionId, reversesId: original.id });
}

/**
 * The adjustment that this request made before, or null.
 * @throws AdjustmentRefused conflict when the request id was used for something else.
 */
async function findAdjustment(
  database: pg.Pool | pg.ClientBase,
  request: Omit<AdjustmentRequest, 'approvedBy'>,
): Promise<Adjustment | null> {
  const { rows } = await database.query<Adjustment>(
    `SELECT ${ADJUSTMENT_COLUMNS} FROM adjustments a WHERE a.requested_by = $1 AND a.request_id = $2`,
    [request.requestedBy, request.requestId],
  );
  const found = rows[0] && exact(rows[0]);
  if (!found) return null;
  // The database keeps no address in a note.
  const asked = { ...request, note: withoutAddresses(request.note) };
  const isSame = (['accountId', 'ticketId', 'amount', 'reason', 'note'] as const).every(
    (field) => found[field] === asked[field],
  );
  if (isSame) return found;
  throw new AdjustmentRefused('conflict', 'This requestId was used for another adjustment.');
}

export async function readAdjustment(
  database: pg.Pool | pg.ClientBase,
  id: string,
): Promise<Adjustment | null> {
  const { rows } = await database.query<Adjustment>(
    `SELECT ${ADJUSTMENT_COLUMNS} FROM adjustments a WHERE a.id = $1`,
    [id],
  );
  return rows[0] ? exact(rows[0]) : null;
}

/** bigint whatever the pool's parsers are. */
export function exact(row: Adjustment): Adjustment {
  return {
    ...row,
    amount: BigInt(row.amount),
    aloneLimit: BigInt(row.aloneLimit),
    transactionId: BigInt(row.transactionId),
  };
}

/** Locks the ticket, so that its adjustments are numbered one after the other. */
async function nextSeq(client: pg.ClientBase, ticketId: string): Promise<number> {
  const { rowCount } = await client.query('SELECT FROM tickets WHERE id = $1 FOR NO KEY UPDATE', [ticketId]);
  if (rowCount === 0) throw new AdjustmentRefused('unknown_ticket', 'There is no such ticket.');
  const { rows } = await client.query<{ seq: number }>(
    'SELECT coalesce(max(seq), 0)::int + 1 AS seq FROM adjustments WHERE ticket_id = $1',
    [ticketId],
  );
  return rows[0]?.seq ?? 1;
}

function requireBalance({ main }: LockedAccount, amount: bigint): void {
  if (amount > 0n || main + amount >= 0n) return;
  const left = formatAmount(nanos(main > 0n ? main : 0n));
  throw new AdjustmentRefused('beyond_balance', `The balance is ${left} USD: no more can be taken.`);
}

/** @returns what one person may let out alone in a day */
async function requireSecondPerson(client: pg.ClientBase, request: AdjustmentRequest): Promise<bigint> {
  const { accountId, amount, requestedBy: actor, approvedBy, requestId } = request;
  const reference = `adjustment:${requestId}`;
  const { taken, limit } = await takeOutflow(client, {
    kind: 'adjustment',
    actor,
    approvedBy,
    amount,
    reference,
    accountId,
  });
  if (taken) return limit;
  const message = `One person adjusts by ${formatAmount(nanos(limit))} USD in a day: another one must agree.`;
  throw new AdjustmentRefused('second_person', message);
}

async function requireReversible(client: pg.ClientBase, original: Adjustment): Promise<void> {
  if (original.reversesId !== null) {
    throw new AdjustmentRefused('reversed', 'A reversal is not reversed: adjust again.');
  }
  const { rowCount } = await client.query('SELECT FROM adjustments WHERE reverses_id = $1', [original.id]);
  if (rowCount !== 0) throw new AdjustmentRefused('reversed', 'The adjustment has been reversed already.');
}

function postAdjustment(
  client: pg.ClientBase,
  posting: Pick<AdjustmentRequest, 'ticketId' | 'amount' | 'reason'> & {
    account: LockedAccount;
    seq: number;
    linkedId: bigint | null;
  },
): Promise<bigint> {
  const { account, amount, ticketId, seq, linkedId } = posting;
  return post(client, {
    kind: linkedId === null ? 'adjustment' : 'adjustment-reversed',
    reference: `adjustment:${ticketId}:${seq}`,
    accountId: account.accountId,
    linkedId,
    movements: [
      { code: `adjust:${posting.reason}`, commodity: 'CRD', amount: -amount },
      { account, purpose: 'main', amount },
    ],
  });
}

async function finish(
  client: pg.ClientBase,
  account: LockedAccount,
  made: AdjustmentRequest & Pick<Adjustment, 'aloneLimit' | 'seq' | 'transactionId' | 'reversesId'>,
): Promise<Adjustment> {
  const id = newId();
  await client.query(
    `INSERT INTO adjustments (id, account_id, ticket_id, seq, reason, amount, note, reverses_id, requested_by, approved_by,
       alone_limit, request_id, transaction_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    [
      id,
      made.accountId,
      made.ticketId,
      made.seq,
      made.reason,
      made.amount,
      made.note,
      made.reversesId,
      made.requestedBy,
      made.approvedBy,
      made.aloneLimit,
      made.requestId,
      made.transactionId,
    ],
  );
  await settleDebt(client, account);
  return (await readAdjustment(client, id)) as Adjustment;
}
