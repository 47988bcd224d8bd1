import type pg from 'pg';
import { newId } from '#platform/ids.js';
import { insertLotChange } from '../lots/lots.js';
import { settleDebt } from './debt.js';
import { takeOutflow } from './outflow.js';
import type { LockedAccount } from './posting.js';

/** What adjustments and write-offs have in common: a ticket, a person, a second one above the limit, and a reversal. */
export interface CorrectionRequest {
  accountId: string;
  ticketId: string;
  note: string;
  /** `user:{id}` or an operator's name: who asked, and the second person where one was needed. */
  requestedBy: string;
  approvedBy: string | null;
  /** Chosen by the caller. Repeating it gives the same answer. */
  requestId: string;
}

/** What asks for a reversal has beside the correction's id. */
export type ReversalTerms = Omit<CorrectionRequest, 'accountId' | 'ticketId'>;

export interface StoredCorrection {
  id: string;
  /** Nanos that one person could let out alone that day. */
  aloneLimit: bigint;
  /** The correction that this one reverses. */
  reversesId: string | null;
  /** The one that reverses this one. */
  reversedById: string | null;
  transactionId: bigint;
  recordedAt: Date;
}

type CorrectionTable = 'adjustments' | 'write_offs';

/** The columns that both tables have, of a row named `c`. */
export function correctionColumns(table: CorrectionTable): string {
  return `c.id, c.account_id AS "accountId", c.ticket_id AS "ticketId", c.amount, c.note, c.reverses_id AS "reversesId",
  (SELECT r.id FROM ${table} r WHERE r.reverses_id = c.id) AS "reversedById", c.requested_by AS "requestedBy",
  c.approved_by AS "approvedBy", c.alone_limit AS "aloneLimit", c.request_id AS "requestId",
  c.transaction_id AS "transactionId", c.recorded_at AS "recordedAt"`;
}

/** bigint whatever the pool's parsers are. */
export function exact<T extends { amount: bigint; aloneLimit: bigint; transactionId: bigint }>(row: T): T {
  return {
    ...row,
    amount: BigInt(row.amount),
    aloneLimit: BigInt(row.aloneLimit),
    transactionId: BigInt(row.transactionId),
  };
}

/** Locks the ticket, so that its corrections come one after the other. False: there is none. */
export async function lockTicket(client: pg.ClientBase, ticketId: string): Promise<boolean> {
  const { rowCount } = await client.query('SELECT FROM tickets WHERE id = $1 FOR NO KEY UPDATE', [ticketId]);
  return rowCount !== 0;
}

/** @returns whether this person may do it, and what one person may let out alone in a day */
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

/** Takes what is left of the lot that the reversed correction brought. */
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

/** Stores a row by its columns, and lets the credit pay debts. @returns its id */
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
