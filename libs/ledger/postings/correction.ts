import type pg from 'pg';
import { newId } from '#platform/ids.js';
import { insertLotChange } from '../lots/lots.js';
import { settleDebt } from './debt.js';
import { takeOutflow } from './outflow.js';
import type { LockedAccount } from './posting.js';

/** What adjustments and write-offs share: a ticket, a person, a second person above the limit, and a reversal. */
export interface CorrectionRequest {
  accountId: string;
  ticketId: string;
  note: string;
  /** `user:{id}` or an operator's name: the requester, and the second person if one was needed. */
  requestedBy: string;
  approvedBy: string | null;
  /** Chosen by the caller. Repeating it gives the same answer. */
  requestId: string;
}

/** What a request for a reversal has besides the correction's id. */
export type ReversalTerms = Omit<CorrectionRequest, 'accountId' | 'ticketId'>;

export interface StoredCorrection {
  id: string;
  /** Nanos that one person could pay out alone that day. */
  aloneLimit: bigint;
  /** The correction that this one reverses. */
  reversesId: string | null;
  /** The correction that reverses this one. */
  reversedById: string | null;
  transactionId: bigint;
  recordedAt: Date;
}

type CorrectionTable = 'adjustments' | 'write_offs';

/** The columns of both tables, for a row aliased as `c`. */
export function correctionColumns(table: CorrectionTable): string {
  return `c.id, c.account_id AS "accountId", c.ticket_id AS "ticketId", c.amount, c.note, c.reverses_id AS "reversesId",
  (SELECT r.id FROM ${table} r WHERE r.reverses_id = c.id) AS "reversedById", c.requested_by AS "requestedBy",
  c.approved_by AS "approvedBy", c.alone_limit AS "aloneLimit", c.request_id AS "requestId",
  c.transaction_id AS "transactionId", c.recorded_at AS "recordedAt"`;
}

/** A bigint, regardless of the pool's parsers. */
export function exact<T extends { amount: bigint; aloneLimit: bigint; transactionId: bigint }>(row: T): T {
  return {
    ...row,
    amount: BigInt(row.amount),
    aloneLimit: BigInt(row.aloneLimit),
    transactionId: BigInt(row.transactionId),
  };
}

/** Locks the ticket, so that its corrections are made one at a time. False if there is none. */
export async function lockTicket(client: pg.ClientBase, ticketId: string): Promise<boolean> {
  const { rowCount } = await client.query('SELECT FROM tickets WHERE id = $1 FOR NO KEY UPDATE', [ticketId]);
  return rowCount !== 0;
}

/** @returns whether this person may do it, and how much one person may pay out alone in a day */
export function takeCorrection(
  client: pg.ClientBase,
  kind: 'adjustment' | 'write-off',
  request: Omit<CorrectionRequest, 'ticketId' | 'note'> & { amount: bigint },
): Promise<{ taken: boolean; limit: bigint }> {
  const { accountId, amount, requestedBy: actor, approvedBy, requestId } = request;
  return takeOutflow(client, {
    kind,
    actor,
    approvedBy,
    amount,
    reference: `${kind}:${requestId}`,
    accountId,
  });
}

export async function isReversed(
  client: pg.ClientBase,
  table: CorrectionTable,
  id: string,
): Promise<boolean> {
  const { rowCount } = await client.query(`SELECT FROM ${table} WHERE reverses_id = $1`, [id]);
  return rowCount !== 0;
}

/** Takes the rest of the lot that the reversed correction created. */
export async function takeUnused(
  client: pg.ClientBase,
  unused: { lotId: bigint; credits: bigint },
  reversal: { transactionId: bigint; kind: 'adjustment-reversed' | 'write-off-reversed' },
): Promise<void> {
  if (unused.credits === 0n) return;
  await insertLotChange(client, {
    ...reversal,
    lotId: unused.lotId,
    credits: -unused.credits,
    paidMinor: 0n,
  });
}

/** Stores a row, and lets the credits pay debts. @returns its id */
export async function insertCorrection(
  client: pg.ClientBase,
  account: LockedAccount,
  { table, row }: { table: CorrectionTable; row: Record<string, string | number | bigint | null> },
): Promise<string> {
  const id = newId();
  const columns = ['id', ...Object.keys(row)];
  const places = columns.map((_, index) => `$${index + 1}`);
  await client.query(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places.join(', ')})`, [
    id,
    ...Object.values(row),
  ]);
  await settleDebt(client, account);
  return id;
}
