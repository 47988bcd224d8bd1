import type pg from 'pg';
import { withoutAddresses } from '#identity/redaction.js';
import { formatAmount, nanos } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { CodedError } from '#platform/errors.js';
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
  reversesId: string | null;
  reversedById: string | null;
  transactionId: bigint;
  recordedAt: Date;
}

type Correction = CorrectionRequest & StoredCorrection & { amount: bigint };

export interface CorrectionKind {
  noun: 'adjustment' | 'write-off';
  table: 'adjustments' | 'write_offs';
  /** The columns that only this table has. */
  own: readonly string[];
  /** Completes "One person … 5 credits in a day". */
  does: string;
  /** Completes "A reversal is not reversed: … again". */
  again: string;
}

/** Nothing was written. */
export class CorrectionRefused extends CodedError<
  | 'unknown_ticket'
  | 'unknown_adjustment'
  | 'unknown_write_off'
  | 'deleted'
  | 'beyond_balance'
  | 'no_debt'
  | 'beyond_debt'
  | 'once_a_month'
  | 'second_person'
  | 'reversed'
  | 'conflict'
> {}

/** The fields that both tables have. */
const FIELDS = [
  'accountId',
  'ticketId',
  'amount',
  'note',
  'reversesId',
  'requestedBy',
  'approvedBy',
  'aloneLimit',
  'requestId',
  'transactionId',
] as const;

function columnOf(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The columns of a row aliased as `c`. */
export function correctionColumns({ table, own }: CorrectionKind): string {
  const plain = ['id', ...FIELDS, 'recordedAt', ...own].map((field) => `c.${columnOf(field)} AS "${field}"`);
  return `${plain.join(', ')}, (SELECT r.id FROM ${table} r WHERE r.reverses_id = c.id) AS "reversedById"`;
}

export async function readCorrection<C extends Correction>(
  database: pg.Pool | pg.ClientBase,
  kind: CorrectionKind,
  id: string,
): Promise<C | null> {
  const { rows } = await database.query<C>(
    `SELECT ${correctionColumns(kind)} FROM ${kind.table} c WHERE c.id = $1`,
    [id],
  );
  return rows[0] ?? null;
}

/** The part of a request that a repeat has to match. An amount of null matches any. */
type Repeatable = Omit<CorrectionRequest, 'approvedBy'> & { amount: bigint | null; reason?: string };

/**
 * The correction that this request made before, or null.
 * @throws CorrectionRefused conflict when the request id was used for something else
 */
export async function findCorrection<C extends Correction>(
  client: pg.ClientBase,
  kind: CorrectionKind,
  request: Repeatable,
): Promise<C | null> {
  const { rows } = await client.query<C>(
    `SELECT ${correctionColumns(kind)} FROM ${kind.table} c WHERE c.requested_by = $1 AND c.request_id = $2`,
    [request.requestedBy, request.requestId],
  );
  const found = rows[0];
  if (!found) return null;
  // The database keeps no address in a note.
  const asked: Record<string, unknown> = { ...request, note: withoutAddresses(request.note) };
  const stored = new Map<string, unknown>(Object.entries(found));
  const isSame = COMPARED.every((field) => asked[field] === null || stored.get(field) === asked[field]);
  if (isSame) return found;
  throw new CorrectionRefused('conflict', `This requestId was used for another ${kind.noun}.`);
}

/** What must be the same in a repeat. */
const COMPARED = ['accountId', 'ticketId', 'note', 'amount', 'reason'] as const;

/** Locks the ticket, so that its corrections are made one at a time. @throws CorrectionRefused */
export async function lockTicket(client: pg.ClientBase, ticketId: string): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM tickets WHERE id = $1 FOR NO KEY UPDATE', [ticketId]);
  if (rowCount === 0) throw new CorrectionRefused('unknown_ticket', 'There is no such ticket.');
}

/** @returns how much one person may pay out alone in a day. @throws CorrectionRefused if a second person must agree */
export async function takeCorrection(
  client: pg.ClientBase,
  { noun, does }: CorrectionKind,
  request: Omit<CorrectionRequest, 'ticketId' | 'note'> & { amount: bigint },
): Promise<bigint> {
  const { accountId, amount, requestedBy: actor, approvedBy, requestId } = request;
  const reference = `${noun}:${requestId}`;
  const { taken, limit } = await takeOutflow(client, {
    kind: noun,
    actor,
    approvedBy,
    amount,
    reference,
    accountId,
  });
  if (taken) return limit;
  const message = `One person ${does} ${formatAmount(nanos(limit))} credits in a day: another one must agree.`;
  throw new CorrectionRefused('second_person', message);
}

/** @throws CorrectionRefused for a reversal, and for what has been reversed already */
export async function requireReversible(
  client: pg.ClientBase,
  { noun, table, again }: CorrectionKind,
  { id, reversesId }: Pick<StoredCorrection, 'id' | 'reversesId'>,
): Promise<void> {
  if (reversesId !== null)
    throw new CorrectionRefused('reversed', `A reversal is not reversed: ${again} again.`);
  const { rowCount } = await client.query(`SELECT FROM ${table} WHERE reverses_id = $1`, [id]);
  if (rowCount !== 0) throw new CorrectionRefused('reversed', `The ${noun} has been reversed already.`);
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

/** Stores a correction, and lets the credits pay debts. @returns it as stored */
export async function insertCorrection<C extends Correction>(
  client: pg.ClientBase,
  account: LockedAccount,
  { kind, made }: { kind: CorrectionKind; made: Omit<C, 'id' | 'reversedById' | 'recordedAt'> },
): Promise<C> {
  const id = newId();
  const row: Record<string, unknown> = { ...made, id };
  const fields = ['id', ...FIELDS, ...kind.own];
  const places = fields.map((_, index) => `$${index + 1}`).join(', ');
  await client.query(
    `INSERT INTO ${kind.table} (${fields.map(columnOf).join(', ')}) VALUES (${places})`,
    fields.map((field) => row[field]),
  );
  await settleDebt(client, account);
  return (await readCorrection<C>(client, kind, id))!;
}
