import type pg from 'pg';
import { isDeleted } from '#identity/account.store.js';
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

export const adjustmentReasons = ['goodwill', 'correction', 'migration', 'compensation'] as const;
export type AdjustmentReason = (typeof adjustmentReasons)[number];

export interface AdjustmentRequest extends CorrectionRequest {
  /** Nanos, not 0: positive for the customer, negative against. */
  amount: bigint;
  reason: AdjustmentReason;
}

export interface ReversalRequest extends ReversalTerms {
  adjustmentId: string;
}

export interface Adjustment extends AdjustmentRequest, StoredCorrection {
  /** The first adjustment of its ticket is 1. */
  seq: number;
}

export const ADJUSTMENTS: CorrectionKind = {
  noun: 'adjustment',
  table: 'adjustments',
  own: ['seq', 'reason'],
  does: 'adjusts by',
  again: 'adjust',
};

/**
 * Adds or removes credits of an account: Dr adjust:{reason} / Cr main, or the other way round, in the caller's
 * transaction. Added credits form a lot that nobody paid for. Removed credits use lots, and never take the balance
 * below 0. Locks the ticket, then the balances.
 * @throws CorrectionRefused, UnknownAccount
 */
export async function adjust(client: pg.ClientBase, request: AdjustmentRequest): Promise<Adjustment> {
  const { accountId, amount } = request;
  if (amount === 0n) throw new RangeError('an adjustment is not 0');
  await lockOutflows(client, request.requestedBy);
  const seq = await nextSeq(client, request.ticketId);
  const account = await lockBalance(client, accountId);
  const existing = await findCorrection<Adjustment>(client, ADJUSTMENTS, request);
  if (existing) return existing;
  await refuseDeleted(client, accountId);
  requireBalance(account, amount);
  const aloneLimit = await takeCorrection(client, ADJUSTMENTS, request);
  const transactionId = await postAdjustment(client, { ...request, account, seq, linkedId: null });
  if (amount > 0n) {
    await insertLot(client, { accountId, transactionId, topupId: null, credits: amount, paidMinor: 0n });
  }
  const made = { ...request, aloneLimit, seq, transactionId, reversesId: null };
  return insertCorrection<Adjustment>(client, account, { kind: ADJUSTMENTS, made });
}

/**
 * Reverses an adjustment completely, once, with a linked opposite. For added credits, it removes what is left of their
 * lot, and takes the used part from other lots. For removed credits, it returns what was taken.
 * @throws CorrectionRefused
 */
export async function reverseAdjustment(
  client: pg.ClientBase,
  request: ReversalRequest,
): Promise<Adjustment> {
  const original = await readAdjustment(client, request.adjustmentId);
  if (!original) throw new CorrectionRefused('unknown_adjustment', 'There is no such adjustment.');
  const { ticketId, accountId, reason, transactionId: linkedId } = original;
  await lockOutflows(client, request.requestedBy);
  const seq = await nextSeq(client, ticketId);
  const account = await lockBalance(client, accountId);
  const reversal = { ...request, ticketId, accountId, reason, amount: -original.amount };
  const existing = await findCorrection<Adjustment>(client, ADJUSTMENTS, reversal);
  if (existing?.reversesId === original.id) return existing;
  if (existing) throw new CorrectionRefused('conflict', 'This requestId was used for another adjustment.');
  await requireReversible(client, ADJUSTMENTS, original);
  await refuseDeleted(client, accountId);
  requireBalance(account, reversal.amount);
  const aloneLimit = await takeCorrection(client, ADJUSTMENTS, reversal);
  const unused = original.amount > 0n ? await unusedOfPosting(client, account, linkedId) : null;
  const transactionId = await postAdjustment(client, { ...reversal, account, seq, linkedId });
  if (unused) await takeUnused(client, unused, { transactionId, kind: 'adjustment-reversed' });
  const made = { ...reversal, aloneLimit, seq, transactionId, reversesId: original.id };
  return insertCorrection<Adjustment>(client, account, { kind: ADJUSTMENTS, made });
}

export function readAdjustment(database: pg.Pool | pg.ClientBase, id: string): Promise<Adjustment | null> {
  return readCorrection(database, ADJUSTMENTS, id);
}

/** Locks the ticket, so that its adjustments are numbered one after the other. */
async function nextSeq(client: pg.ClientBase, ticketId: string): Promise<number> {
  await lockTicket(client, ticketId);
  const { rows } = await client.query<{ seq: number }>(
    'SELECT coalesce(max(seq), 0)::int + 1 AS seq FROM adjustments WHERE ticket_id = $1',
    [ticketId],
  );
  return rows[0]?.seq ?? 1;
}

/** Its balance was settled for good, and nobody can use what comes. A debt that came later is written off instead. */
async function refuseDeleted(client: pg.ClientBase, accountId: string): Promise<void> {
  if (await isDeleted(client, accountId))
    throw new CorrectionRefused('deleted', 'The account was deleted, so its balance is not adjusted.');
}

function requireBalance({ main }: LockedAccount, amount: bigint): void {
  if (amount > 0n || main + amount >= 0n) return;
  const left = formatAmount(nanos(main > 0n ? main : 0n));
  throw new CorrectionRefused('beyond_balance', `The balance is ${left} credits: no more can be taken.`);
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
