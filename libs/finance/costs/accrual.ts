import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { placeInTime } from '#ledger/postings/effective-time.js';
import { atHorizon } from '#ledger/postings/horizon.js';
import { post, takeTransactionId } from '#ledger/postings/posting.js';
import { openUpcAccounts } from './upc-accounts.js';
import { recordCosts, type RecordedCosts, type ChargesToCost } from './cost-recording.js';

/**
 * Records upstream costs outside the hot path: every ended charge gets its cost once, and each time window one posting. A
 * window never crosses the end of a UTC day, so that costs count on the day of their work.
 */

/** Charges per database transaction: few, because reports wait for transactions that were running when they began. */
const CHUNK = 25_000;
const SHORTEST_SLICE_MS = 1;
const DAY_MS = 86_400_000;

export interface AccrualOptions {
  /** Charges per database transaction. */
  chunk?: number;
  signal?: AbortSignal;
}

export interface Accrual {
  /** Charges whose cost was recorded. */
  recorded: number;
  /** Charges with unknown cost. */
  unknown: number;
}

/** The time up to which costs are recorded, as PostgreSQL text. Includes everything that ended before. */
export async function costsProgress(database: pg.Pool | pg.ClientBase): Promise<{ at: string }> {
  const { rows } = await database.query<{ at: string }>('SELECT through::text AS at FROM cost_progress');
  return { at: rows[0]?.at ?? '-infinity' };
}

/**
 * Records the costs of all charges that ended before the horizon and have none yet, then of those whose cost has since become
 * known, then of failed work that turned out to be billed. Several processes can run it, and it can be killed at any time: each
 * chunk is one transaction under the progress lock.
 */
export async function accrueCosts(pool: pg.Pool, options: AccrualOptions = {}): Promise<Accrual> {
  const { chunk = CHUNK, signal } = options;
  const horizon = await atHorizon(pool, (_, { at }) => Promise.resolve(at));
  const sum: Accrual = { recorded: 0, unknown: 0 };
  const slice = { ms: DAY_MS };
  const steps = [windowStep(horizon, chunk, slice), knownStep(chunk), lateStep(chunk)];
  for (const step of steps) {
    for (let more = true; more && !signal?.aborted;) {
      const done = await inTransaction(pool, step);
      more = done !== null;
      sum.recorded += done?.recorded ?? 0;
      sum.unknown += done?.unknown ?? 0;
    }
  }
  return sum;
}

type Step = (client: pg.PoolClient) => Promise<Accrual | null>;

interface Progress {
  through: string;
  windows: bigint;
}

/** The row is the lock: one process at a time records costs, and no new version can appear in the meantime. */
async function lockProgress(client: pg.ClientBase): Promise<Progress> {
  // Forces the range index for charges of a time, even if the planner sees an empty or new table.
  await client.query('SET LOCAL enable_seqscan = off');
  const { rows } = await client.query<Progress>(
    'SELECT through::text, windows FROM cost_progress FOR UPDATE',
  );
  return rows[0] as Progress;
}

/** The next window before the horizon; null at the horizon. */
function windowStep(horizon: string, chunk: number, slice: { ms: number }): Step {
  return async (client) => {
    const progress = await lockProgress(client);
    const from = progress.through === '-infinity' ? await beginning(client, horizon) : progress.through;
    const window = await nextWindow(client, { from, horizon, chunk, slice });
    if (!window) return null;
    const source: ChargesToCost = { kind: 'ended', from: window.from, to: window.to };
    const done = await recordAndPost(client, { source, day: window.day, last: window.last, progress });
    await client.query(
      'UPDATE cost_progress SET through = $1::timestamptz, begun = coalesce(begun, $2::timestamptz)',
      [window.to, window.from],
    );
    return done;
  };
}

/** When the first charge ended, or the horizon if none did. */
async function beginning(client: pg.ClientBase, horizon: string): Promise<string> {
  const { rows } = await client.query<{ at: string }>(
    'SELECT least(min(resolved_at), $1::timestamptz)::text AS at FROM charges',
    [horizon],
  );
  return rows[0]?.at ?? horizon;
}

interface Window {
  from: string;
  to: string;
  /** Of UTC. */
  day: string;
  /** The last instant inside. */
  last: string;
}

/** From a time to the end of its day, to the horizon, or until there are about as many charges as a chunk. */
async function nextWindow(
  client: pg.ClientBase,
  asked: { from: string; horizon: string; chunk: number; slice: { ms: number } },
): Promise<Window | null> {
  const { from, horizon, chunk, slice } = asked;
  for (;;) {
    const { rows } = await client.query<Window & { count: number; left: boolean }>(
      `SELECT w.from::text, w.to::text, (w.from AT TIME ZONE 'UTC')::date::text AS day,
         (w.to - interval '1 microsecond')::text AS last, w.from < w.to AS left,
         (SELECT count(*)::int FROM (SELECT FROM charges WHERE resolved_at >= w.from AND resolved_at < w.to LIMIT $4 + 1) AS found) AS count
       FROM (SELECT $1::timestamptz AS from, least($2::timestamptz, $1::timestamptz + $3::float8 * interval '1 ms',
         (date_trunc('day', $1::timestamptz AT TIME ZONE 'UTC') + interval '1 day') AT TIME ZONE 'UTC') AS to) AS w`,
      [from, horizon, slice.ms, chunk],
    );
    const { count, left, ...window } = rows[0] as (typeof rows)[number];
    if (!left) return null;
    if (count <= chunk || slice.ms <= SHORTEST_SLICE_MS) {
      if (count < chunk / 4) slice.ms = Math.min(slice.ms * 4, DAY_MS);
      return window;
    }
    slice.ms /= 2;
  }
}

/** Charges of one day whose cost was unknown when they ended and has become known. */
function knownStep(chunk: number): Step {
  return async (client) => {
    const progress = await lockProgress(client);
    const due = await firstDay(client, { id: 'u.charge_id', at: 'u.ended_at', from: NOW_KNOWN }, chunk);
    if (!due) return null;
    const { day, ids } = due;
    const done = await recordOfDay(client, { kind: 'known', ids }, { day, progress });
    await client.query(
      `DELETE FROM unknown_costs u WHERE charge_id = ANY ($1)
         AND EXISTS (SELECT FROM charge_costs c WHERE c.charge_id = u.charge_id)`,
      [ids],
    );
    return done.recorded > 0 ? done : null;
  };
}

const NOW_KNOWN = `FROM upstream_cost_times v JOIN unknown_costs u ON u.channel_id = v.channel_id
  AND u.model_id = v.model_id AND u.ended_at >= v.effective_from AND u.ended_at < v.until
  AND (CASE WHEN u.metered THEN v.input_cost ELSE v.unit_cost END) IS NOT NULL WHERE true`;

/** Failed work of one day that was recorded as not billed, but was delivered since, or whose task now says that it is billed. */
function lateStep(chunk: number): Step {
  return async (client) => {
    const progress = await lockProgress(client);
    const due = await firstDay(client, { id: 'c.id', at: 'c.resolved_at', from: LATE }, chunk);
    if (!due) return null;
    const { day, ids } = due;
    const done = await recordOfDay(client, { kind: 'late', ids }, { day, progress });
    return done.recorded > 0 ? done : null;
  };
}

/** What was recorded as billed stays as it is, even if it is delivered later: a bill shows the difference. */
const LATE = `FROM (SELECT charge_id, channel_id FROM tasks WHERE unbilled_cost IS NOT NULL
    UNION SELECT charge_id, channel_id FROM late_deliveries) AS t JOIN charges c ON c.id = t.charge_id
  WHERE coalesce(c.channel_id, t.channel_id) IS NOT NULL AND c.state = 'released'
    AND c.resolved_at < (SELECT through FROM cost_progress)
    AND NOT EXISTS (SELECT FROM charge_costs f WHERE f.charge_id = c.id AND (f.outcome = 'late' OR f.cost > 0))
    AND NOT EXISTS (SELECT FROM unknown_costs u WHERE u.charge_id = c.id)`;

/** The first UTC day on which there are such charges, and some of them. */
async function firstDay(
  client: pg.ClientBase,
  { id, at, from }: { id: string; at: string; from: string },
  most: number,
): Promise<{ day: string; ids: string[] } | null> {
  const day = `(${at} AT TIME ZONE 'UTC')::date`;
  const first = await client.query<{ day: string | null }>(`SELECT min(${day})::text AS day ${from}`);
  const found = first.rows[0]?.day ?? null;
  if (found === null) return null;
  const ofDay = `SELECT ${id} AS id ${from} AND ${day} = $1::date LIMIT $2`;
  const { rows } = await client.query<{ id: string }>(ofDay, [found, most]);
  return { day: found, ids: rows.map((row) => row.id) };
}

/** Records costs of one day, at the latest time that they can have. */
async function recordOfDay(
  client: pg.ClientBase,
  source: ChargesToCost,
  { day, progress }: { day: string; progress: Progress },
): Promise<Accrual> {
  const { rows } = await client.query<{ last: string }>(
    `SELECT (least($1::timestamptz, ($2::date + 1)::timestamp AT TIME ZONE 'UTC') - interval '1 microsecond')::text AS last`,
    [progress.through, day],
  );
  const done = await recordAndPost(client, { source, day, last: rows[0]?.last ?? '', progress });
  // The summary of the day is no longer complete.
  await client.query('DELETE FROM revenue_summary_days WHERE day = $1::date', [day]);
  return done;
}

interface CostWindow {
  source: ChargesToCost;
  day: string;
  last: string;
  progress: Progress;
}

async function recordAndPost(client: pg.ClientBase, window: CostWindow): Promise<Accrual> {
  const { source, last, progress } = window;
  const place = await placeInTime(client, { happenedAt: last, accountId: null });
  const day = place.effectiveAt === null ? await today(client) : window.day;
  const transactionId = await takeTransactionId(client);
  const recorded = await recordCosts(client, source, { transactionId, day });
  const costs = recorded.costs.filter(({ cost }) => cost > 0n);
  if (costs.length > 0) {
    const number = progress.windows + 1n;
    await client.query('UPDATE cost_progress SET windows = $1', [number]);
    await postCosts(client, { id: transactionId, number, day, last, costs });
  }
  return { recorded: recorded.count, unknown: recorded.unknown };
}

async function today(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query<{ day: string }>(
    `SELECT (ledger_effective_now() AT TIME ZONE 'UTC')::date::text AS day`,
  );
  return rows[0]?.day ?? '';
}

interface CostPosting {
  id: bigint;
  number: bigint;
  day: string;
  last: string;
  costs: RecordedCosts['costs'];
}

async function postCosts(client: pg.ClientBase, posting: CostPosting): Promise<void> {
  const { id, number, day, last, costs } = posting;
  await openUpcAccounts(
    client,
    costs.map(({ channel }) => channel),
  );
  await post(client, {
    id,
    kind: 'upstream_cost',
    reference: `upstream-cost:${number}:${day}`,
    accountId: null,
    effectiveAt: last,
    movements: costs.flatMap(({ channel, failed, cost }) => [
      { code: `expense:upstream${failed ? '-failed' : ''}:${channel}`, commodity: 'UPC', amount: -cost },
      { code: `accrued-upstream:${channel}`, commodity: 'UPC', amount: cost },
    ]),
  });
  const { rows } = await client.query<{ same: boolean }>(
    `SELECT (effective_at AT TIME ZONE 'UTC')::date = $2::date AS same FROM ledger_transactions WHERE id = $1`,
    [id, day],
  );
  if (!rows[0]?.same) throw new PostedOnAnotherDay();
}

/** A period began to close, or a day ended, while costs were being recorded: the transaction runs again. */
class PostedOnAnotherDay extends Error {
  readonly code = '40001';
}
