import type pg from 'pg';
import { sendTogether } from '#database/database.js';
import { crashPoint } from '#platform/crash-points.js';
import { NamedError } from '#platform/errors.js';
import { chargeAnnouncements } from './announcements.js';
import { arraysOf, type Column, keyColumns, type SpendChange, valuesOf } from './batch-columns.js';
import { columnsOf, type Decided, type Part, writeStatement } from './batch-statement.js';
import type { BatchPlan, Instant, KeyState } from './batch.js';

/** The facts that the batch was decided on have changed: roll back, and decide again on the current ones. */
class BatchConflict extends NamedError {
  constructor() {
    super('what a batch was decided by was changed by another process');
  }
}

const PASSING_STATES = new Set(['40P01', '40001', '55P03', 'LP001']);

/**
 * Deadlock, serialisation failure or lock timeout, a period that began to close, or another engine posted one of the
 * charges first: nothing was written, and the next run sees what is there now.
 */
export function isPassing(error: unknown): boolean {
  if (error instanceof BatchConflict) return true;
  const { code, constraint } = error as { code?: string; constraint?: string };
  return (
    PASSING_STATES.has(code ?? '') || (code === '23505' && constraint === 'ledger_transactions_reference_key')
  );
}

/** What must still be true when holds that were decided from memory, without locks, are written. */
export interface HoldProof {
  /** Of the catalog, whose prices were used. */
  readonly revision: bigint;
  /** The decisions are valid from here … */
  readonly from: Instant;
  /** … until just before this one, in milliseconds since 1970. */
  readonly untilMs: number;
  readonly keys: readonly KeyState[];
}

export interface WriteOrder {
  readonly plan: BatchPlan;
  readonly basis: PlanBasis;
  /** Whether settlements are announced. */
  readonly settlements: boolean;
}

export type PlanBasis =
  /** What was read under the batch's locks, at this time. */
  | { readonly at: Instant }
  | {
      readonly number: string;
      /** The number of the batch sent before it on this connection and not answered yet, if it rests on that. */
      readonly follows: string | null;
      /** What verifies its holds; null if it has none. */
      readonly proof: HoldProof | null;
    };

/** The result of writing a batch: the new version of its balances, and its time. */
export interface Written extends Instant {
  readonly version: string;
  /** Whether the outbox now has announcements. */
  readonly announces: boolean;
}

const DIVISION_BY_ZERO = '22012';

/**
 * Writes a plan in one statement and commits, in one round trip. A batch that was decided without locks is proved in
 * the statement, which is its transaction. With locks, COMMIT follows, which a failed statement turns into a rollback.
 * @returns null if there was nothing to write
 * @throws BatchConflict if something changed meanwhile. Nothing was written then.
 */
export async function writeAndCommit(client: pg.ClientBase, order: WriteOrder): Promise<Written | null> {
  const [written] = await Promise.all(sendTogether(client, () => queriesOf(client, order)));
  crashPoint('batch.committed');
  return written;
}

/** The first answer is that of the statement that writes. */
function queriesOf(
  client: pg.ClientBase,
  order: WriteOrder,
): [Promise<Written | null>, ...Promise<unknown>[]] {
  const written = write(client, order);
  crashPoint('batch.before-commit');
  return 'at' in order.basis ? [written, client.query('COMMIT')] : [written];
}

async function write(client: pg.ClientBase, order: WriteOrder): Promise<Written | null> {
  const { plan, basis } = order;
  if (plan.newCharges.length === 0 && plan.resolutions.length === 0) return null;
  const parts = partsOf(order);
  const statement = writeStatement(
    [...parts].map(([part, { rows }]) => [part, rows]),
    decidedBy(basis),
  );
  const values = [...basisValues(basis), ...[...parts.values()].flatMap((each) => each.values)];
  const { rows } = await checked(client.query<Omit<Written, 'announces'>>({ ...statement, values }));
  return { ...rows[0]!, announces: parts.has('announcements') };
}

function decidedBy(basis: PlanBasis): Decided {
  if ('at' in basis) return 'locked';
  return basis.follows === null ? 'remembered' : 'following';
}

function basisValues(basis: PlanBasis): (Buffer | string)[] {
  if ('at' in basis) return [basis.at.now];
  const { number, follows, proof } = basis;
  return [number, ...(follows === null ? [] : [follows]), ...(proof ? proofValues(proof) : [])];
}

function proofValues({ revision, from, untilMs, keys }: HoldProof): (Buffer | string)[] {
  return [String(revision), from.now, String(untilMs), ...arraysOf(keyColumns, keys)];
}

/** A statement divides by zero if what it verifies is not true. */
async function checked<T>(query: Promise<T>): Promise<T> {
  try {
    return await query;
  } catch (error) {
    throw (error as { code?: string }).code === DIVISION_BY_ZERO ? new BatchConflict() : error;
  }
}

interface PartValues {
  readonly rows: number | 'any';
  readonly values: readonly (Buffer | string | null)[];
}

/**
 * The parts of a batch with their values: a statement of only these is faster than one of all parts. A batch of one
 * charge, the usual case at low load, names each of its few values.
 */
function partsOf(order: WriteOrder): Map<Part, PartValues> {
  const { newCharges, resolutions } = order.plan;
  const isOne = newCharges.length + resolutions.length === 1;
  const parts = new Map<Part, PartValues>();
  for (const [part, rows] of Object.entries(rowsOf(order)) as [Part, readonly never[]][]) {
    if (rows.length === 0) continue;
    const columns: readonly Column<never>[] = columnsOf[part];
    if (isOne) parts.set(part, { rows: rows.length, values: valuesOf(columns, rows) });
    else parts.set(part, { rows: 'any', values: arraysOf(columns, rows) });
  }
  return parts;
}

type RowOf<Columns> = Columns extends readonly Column<infer Row>[] ? Row : never;

function rowsOf({ plan, settlements }: WriteOrder): {
  readonly [Name in Part]: readonly RowOf<(typeof columnsOf)[Name]>[];
} {
  const spend = spendChanges(plan);
  return {
    charges: sorted(plan.newCharges, ({ command }) => command.chargeId),
    resolutions: sorted(plan.resolutions, ({ charge }) => charge.id),
    transactions: plan.transactions,
    entries: plan.entries,
    balances: sorted([...plan.touchedBalances.values()], ({ accountId }) => accountId),
    spent: spend.filter(({ spent }) => spent > 0n),
    unspent: spend.filter(({ spent }) => spent < 0n),
    announcements: chargeAnnouncements(plan, { settlements }),
  };
}

function spendChanges({ keySpend }: BatchPlan): SpendChange[] {
  return sorted([...keySpend], ([key]) => key).map(([key, spent]) => {
    const [keyId = '', month = ''] = key.split(' ');
    return { keyId, month, spent };
  });
}

/** Every batch takes row locks like this. */
function sorted<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Row[] {
  return [...rows].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}
