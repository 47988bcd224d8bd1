import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';

/**
 * Up to where the ledger is final.
 *
 * A posting becomes visible when it commits, which may be long after the time that it carries, so what a report says of a
 * time could change as long as a transaction from before it runs. PostgreSQL gives transaction ids in one order, and a
 * snapshot knows the oldest that runs (`pg_snapshot_xmin`). A mark (`ledger_horizons`) reads the clock and takes a
 * transaction id after that; a posting takes its id first and reads the clock after that (`ledger_clock()`). A posting that
 * a snapshot does not see yet either runs in it, or has no id yet; its id is therefore not below the snapshot's oldest. If the
 * oldest is beyond a mark, so is that posting's id, and the time it is recorded at is not before the mark's. Everything
 * recorded before the mark is therefore in the snapshot, and in every later one: entries are never changed or removed.
 * A clock that is set back is held at the newest mark by `ledger_clock()`.
 *
 * Ids of ledger transactions are taken after the transaction id too, so the same holds for them.
 */
export interface Horizon {
  /** Everything recorded before it is visible. Text, to the microsecond, for PostgreSQL. `-infinity`: nothing is final. */
  readonly at: string;
  /** Anything not visible yet has no smaller id. */
  readonly lastLedgerId: bigint;
}

/** A posting takes its id and its time of recording one after the other, never this long apart. An SQL interval. */
export const RECORDING_APART = `interval '1 minute'`;

/** How long a report waits for the postings in progress when it starts; they take milliseconds. */
const WAIT_MS = 2_000;
const PAUSE_MS = 5;
/** Older marks are only useful as a floor of the clock, for which the newest is enough. */
const KEPT = 100;
/** Ids of ledger transactions are taken in blocks of this many. */
const BLOCK = 1000;

/**
 * Sets a mark, and waits a little for what ran before it, so that a report reaches the present.
 * @param signal ends the wait
 * @returns whether all of that has ended, so that every later horizon is at the mark or after it
 */
export async function markHorizon(pool: pg.Pool, waitMs = WAIT_MS, signal?: AbortSignal): Promise<boolean> {
  const xid = await insertMark(pool);
  const deadline = performance.now() + waitMs;
  for (;;) {
    const { rows } = await pool.query<{ passed: boolean }>(
      'SELECT pg_snapshot_xmin(pg_current_snapshot()) > $1::xid8 AS passed',
      [xid],
    );
    // A report covers the time up to the newest mark that was passed. If something runs for long, that is an older one.
    if (rows[0]?.passed || performance.now() > deadline || signal?.aborted) return rows[0]?.passed ?? false;
    await pause(PAUSE_MS);
  }
}

async function insertMark(pool: pg.Pool): Promise<string> {
  // The clock and the sequence are read before the transaction has an id: the rows come from what is read, the id last.
  const { rows } = await pool.query<{ xid: string }>(
    `WITH seen AS MATERIALIZED (
       SELECT greatest(clock_timestamp(), (SELECT max(at) FROM ledger_horizons)) AS at,
         CASE WHEN is_called THEN last_value + $1 ELSE last_value END AS id
       FROM ledger_transaction_blocks)
     INSERT INTO ledger_horizons (at, last_ledger_id, xid) SELECT at, id, pg_current_xact_id() FROM seen RETURNING xid::text`,
    [BLOCK],
  );
  // Ids beyond the present come from another cluster, whose dump this database was restored from.
  await pool.query(
    `DELETE FROM ledger_horizons WHERE xid >= pg_snapshot_xmax(pg_current_snapshot())
       OR xid < (SELECT xid FROM ledger_horizons ORDER BY xid DESC OFFSET $1 LIMIT 1)`,
    [KEPT],
  );
  return (rows[0] as { xid: string }).xid;
}

/** The horizon of the snapshot that the client's transaction works on; it must be of REPEATABLE READ. */
export async function readHorizon(client: pg.ClientBase): Promise<Horizon> {
  const { rows } = await client.query<Horizon>(
    `SELECT at::text, last_ledger_id AS "lastLedgerId" FROM ledger_horizons
     WHERE xid < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY at DESC, xid DESC LIMIT 1`,
  );
  return rows[0] ?? { at: '-infinity', lastLedgerId: 0n };
}

/** A read-only snapshot of the ledger, as current as possible. */
export interface Report {
  readonly client: pg.PoolClient;
  readonly horizon: Horizon;
  readonly close: () => Promise<void>;
}

/**
 * Opens a snapshot for a report. The caller closes it. A report of what was recorded before a time that is already
 * final needs no new mark.
 */
export async function openReport(pool: pg.Pool, recordedBefore?: Date | string | null): Promise<Report> {
  if (await needsMark(pool, recordedBefore ?? null)) await markHorizon(pool);
  const client = await pool.connect();
  const close = async (): Promise<void> => {
    let broken: Error | undefined;
    await client.query('ROLLBACK').catch((failure: Error) => (broken = failure));
    client.release(broken);
  };
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await client.query(`SET LOCAL timezone = 'UTC'`);
    await client.query(`SET LOCAL datestyle = 'ISO'`);
    return { client, horizon: await readHorizon(client), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * A replica sets no marks: a report there covers the time up to the newest mark that arrived, as set by the bookkeeping
 * jobs.
 */
async function needsMark(pool: pg.Pool, recordedBefore: Date | string | null): Promise<boolean> {
  const { rows } = await pool.query<{ needed: boolean }>(
    `SELECT NOT current_setting('transaction_read_only')::boolean AND NOT EXISTS (SELECT FROM ledger_horizons
       WHERE xid < pg_snapshot_xmin(pg_current_snapshot()) AND at >= $1::timestamptz) AS needed`,
    [recordedBefore],
  );
  return rows[0]?.needed ?? true;
}

/** Runs a report on its own snapshot; see `openReport`. */
export async function atHorizon<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient, horizon: Horizon) => Promise<T>,
  recordedBefore?: Date | string | null,
): Promise<T> {
  const { client, horizon, close } = await openReport(pool, recordedBefore);
  try {
    return await work(client, horizon);
  } finally {
    await close();
  }
}
