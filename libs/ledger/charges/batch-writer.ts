import type pg from 'pg';
import { crashPoint } from '#platform/crash-points.js';
import { chargeAnnouncements } from './announcements.js';
import {
  announcementColumns,
  balanceColumns,
  type Column,
  entryColumns,
  keyColumns,
  newChargeColumns,
  resolutionColumns,
  spendColumns,
  type SpendChange,
  transactionColumns,
  valuesOf,
} from './batch-columns.js';
import { type Part, statementFor } from './batch-statement.js';
import type { BatchPlan, Instant, KeyState, LockedBalance } from './batch.js';

/** What the batch was decided by is no longer so: roll back, and decide again by what is there now. */
export class BatchConflict extends Error {
  constructor() {
    super('what a batch was decided by was changed by another process');
    this.name = 'BatchConflict';
  }
}

/** What must hold when a batch is written that was decided by what earlier batches left, without locks. */
export interface Proof {
  /** Of the catalog, whose prices were used. */
  readonly revision: bigint;
  /** The decisions are right at each time from here … */
  readonly from: Instant;
  /** … until just before this one, in milliseconds since 1970. */
  readonly untilMs: number;
  readonly keys: readonly KeyState[];
}

export interface WriteOrder {
  readonly plan: BatchPlan;
  /** The time that the batch was decided at, read under its locks; or what proves a decision made without them. */
  readonly basis: Instant | Proof;
  /** Whether settlements are announced. */
  readonly settlements: boolean;
}

/** How a batch was written: the version that its balances have now, and its time. */
export interface Written extends Instant {
  readonly version: string;
  /** Whether announcements wait in the outbox now. */
  readonly announces: boolean;
}

const DIVISION_BY_ZERO = '22012';

/**
 * Writes a plan in one statement and commits, in one round trip: a statement that failed turns the COMMIT behind it into
 * a rollback. @returns null when there was nothing to write.
 * @throws BatchConflict when something changed meanwhile; nothing was written then.
 */
export async function writeAndCommit(client: pg.ClientBase, order: WriteOrder): Promise<Written | null> {
  const writing = write(client, order);
  crashPoint('batch.before-commit');
  const [written] = await Promise.all([writing, client.query('COMMIT')]);
  crashPoint('batch.committed');
  return written;
}

async function write(client: pg.ClientBase, order: WriteOrder): Promise<Written | null> {
  const { plan, basis } = order;
  if (plan.newCharges.length === 0 && plan.resolutions.length === 0) return null;
  const parts = partsOf(order);
  const proof = isProof(basis)
    ? [String(basis.revision), basis.from.now, String(basis.untilMs)]
    : [basis.now];
  try {
    const { rows } = await client.query<Omit<Written, 'announces'>>({
      ...statementFor([...parts.keys()], isProof(basis)),
      values: [...proof, ...[...parts.values()].flat()],
    });
    return { ...rows[0]!, announces: parts.has('announcements') };
  } catch (error) {
    throw (error as { code?: string }).code === DIVISION_BY_ZERO ? new BatchConflict() : error;
  }
}

function isProof(basis: Instant | Proof): basis is Proof {
  return 'revision' in basis;
}

/** The parts that a batch has, with their values: a statement of those alone is quicker than one of all. */
function partsOf({ plan, basis, settlements }: WriteOrder): Map<Part, string[]> {
  const announcements = chargeAnnouncements(plan, { settlements });
  const parts = new Map<Part, string[]>();
  const add = <Row>(part: Part, columns: readonly Column<Row>[], rows: readonly Row[]): void => {
    if (rows.length > 0) parts.set(part, valuesOf(columns, rows));
  };
  add('charges', newChargeColumns, plan.newCharges);
  add('resolutions', resolutionColumns, plan.resolutions);
  add('transactions', transactionColumns, plan.transactions);
  add('entries', entryColumns, plan.entries);
  add('balances', balanceColumns, balancesOf(plan));
  const spend = spendChanges(plan);
  add(
    'spent',
    spendColumns,
    spend.filter(({ spent }) => spent > 0n),
  );
  add(
    'unspent',
    spendColumns,
    spend.filter(({ spent }) => spent < 0n),
  );
  add('announcements', announcementColumns, announcements);
  if (isProof(basis)) add('keys', keyColumns, basis.keys);
  return parts;
}

/** Sorted, as every batch takes these locks. */
function balancesOf({ touchedBalances }: BatchPlan): LockedBalance[] {
  return [...touchedBalances.values()].sort((a, b) => (a.accountId < b.accountId ? -1 : 1));
}

/** Sorted, as every batch takes these locks. */
function spendChanges({ keySpend }: BatchPlan): SpendChange[] {
  return [...keySpend]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, spent]) => {
      const [keyId = '', month = ''] = key.split(' ');
      return { keyId, month, spent };
    });
}
