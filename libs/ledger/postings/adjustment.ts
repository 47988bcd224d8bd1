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

export const adjustmentReasons = ['goodwill', 'correction', 'migration', 'compensation'] as const;
export type AdjustmentReason = (typeof adjustmentReasons)[number];

export interface AdjustmentRequest extends CorrectionRequest {
  /** Nanos, not 0: above it for the customer, below it against. */
  amount: bigint;
  reason: AdjustmentReason;
}

export interface ReversalRequest extends ReversalTerms {
  /** The id of what is reversed. */
  adjustmentId: string;
}

export interface Adjustment extends AdjustmentRequest, StoredCorrection {
  /** The first adjustment of its ticket is 1. */
  seq: number;
}

/** Nothing was written. */
export class AdjustmentRefused extends Error {
  constructor(
    readonly code:
      | 'unknown_ticket'
      | 'unknown_adjustment'
      | 'beyond_balance'
      | 'second_person'
      | 'reversed'
      | 'conflict',
    message: string,
  ) {
    super(message);
    this.name = 'AdjustmentRefused';
  }
}

/** For an adjustment aliased as `c`. */
export const ADJUSTMENT_COLUMNS = `${correctionColumns('adjustments')}, c.seq, c.reason`;

/**
 * Adds or removes credits of an account: Dr adjust:{reason} / Cr main, or the other way round, in the caller's transaction. A
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
  if (unused) await takeUnused(client, unused, { transactionId, kind: 'adjustment-reversed' });
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
    `SELECT ${ADJUSTMENT_COLUMNS} FROM adjustments c WHERE c.requested_by = $1 AND c.request_id = $2`,
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
    `SELECT ${ADJUSTMENT_COLUMNS} FROM adjustments c WHERE c.id = $1`,
    [id],
  );
  return rows[0] ? exact(rows[0]) : null;
}

/** Locks the ticket, so that its adjustments are numbered one after the other. */
async function nextSeq(client: pg.ClientBase, ticketId: string): Promise<number> {
  const isThere = await lockTicket(client, ticketId);
  if (!isThere) throw new AdjustmentRefused('unknown_ticket', 'There is no such ticket.');
  const { rows } = await client.query<{ seq: number }>(
    'SELECT coalesce(max(seq), 0)::int + 1 AS seq FROM adjustments WHERE ticket_id = $1',
    [ticketId],
  );
  return rows[0]?.seq ?? 1;
}

function requireBalance({ main }: LockedAccount, amount: bigint): void {
  if (amount > 0n || main + amount >= 0n) return;
  const left = formatAmount(nanos(main > 0n ? main : 0n));
  throw new AdjustmentRefused('beyond_balance', `The balance is ${left} credits: no more can be taken.`);
}

/** @returns how much one person may pay out alone in a day */
async function requireSecondPerson(client: pg.ClientBase, request: AdjustmentRequest): Promise<bigint> {
  const { taken, limit } = await takeCorrection(client, 'adjustment', request);
  if (taken) return limit;
  const message = `One person adjusts by ${formatAmount(nanos(limit))} credits in a day: another one must agree.`;
  throw new AdjustmentRefused('second_person', message);
}

async function requireReversible(client: pg.ClientBase, original: Adjustment): Promise<void> {
  if (original.reversesId !== null) {
    throw new AdjustmentRefused('reversed', 'A reversal is not reversed: adjust again.');
  }
  if (await isReversed(client, 'adjustments', original.id)) {
    throw new AdjustmentRefused('reversed', 'The adjustment has been reversed already.');
  }
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
  const row = {
    account_id: made.accountId,
    ticket_id: made.ticketId,
    seq: made.seq,
    reason: made.reason,
    amount: made.amount,
    note: made.note,
    reverses_id: made.reversesId,
    requested_by: made.requestedBy,
    approved_by: made.approvedBy,
    alone_limit: made.aloneLimit,
    request_id: made.requestId,
    transaction_id: made.transactionId,
  };
  const id = await insertCorrection(client, account, { table: 'adjustments', row });
  return (await readAdjustment(client, id)) as Adjustment;
}
