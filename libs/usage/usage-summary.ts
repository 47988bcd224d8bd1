import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { atHorizon } from '#ledger/postings/horizon.js';

/**
 * Sums of each account's requests, by quarter of an hour, and by key and model for each day and for each five minutes
 * of the last days, so that no page has to read a million charges. They are derived from charges: everything that ended
 * before a time is in the sums once, whichever process adds it and however often that is killed.
 */

/** Charges per transaction: small enough for reports, which wait for transactions that are open when they start. */
const CHUNK = 25_000;
const DAY_MS = 86_400_000;
const LONGEST_SLICE_MS = 8 * DAY_MS;
const SHORTEST_SLICE_MS = 1;
/** Charts show this many days and compare them with as many before. Older days are neither summed nor kept. */
export const CHART_DAYS = 92;
/** In days: overviews show thirty, charts by five minutes two. */
const KEPT = {
  usage_quarters: { time: 'quarter', days: 62 },
  usage_days: { time: 'day', days: 2 * CHART_DAYS },
  usage_recent: { time: 'at', days: 3 },
  model_days: { time: 'day', days: CHART_DAYS },
};
const MOST_PURGED = 10_000;

/** Adds what has ended since the last time, up to the horizon. Nothing can appear before that any more. */
export async function sumUpUsage(pool: pg.Pool, signal?: AbortSignal, chunk = CHUNK): Promise<void> {
  const horizon = await atHorizon(pool, (_, { at }) => Promise.resolve(at));
  const slice = { ms: DAY_MS };
  for (let more = true; more && !signal?.aborted;) {
    more = await inTransaction(pool, (client) => addWindow(client, { horizon, slice, chunk }));
  }
}

/** Removes some of what is too old. True if more is left. */
export async function purgeUsageSums(pool: pg.Pool): Promise<boolean> {
  let isMore = false;
  for (const [table, { time, days }] of Object.entries(KEPT)) {
    const { rowCount } = await pool.query(
      `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table}
         WHERE ${time} < now() - interval '${days} days' LIMIT ${MOST_PURGED}))`,
    );
    isMore ||= rowCount === MOST_PURGED;
  }
  return isMore;
}

/** The most recent charges that are not in the sums yet are read directly, up to this many. */
const NEWEST = 1_000;
const AFTER_EVERY_ID = 'z'.repeat(26);

/** The ended charges of account `$1` that are in no sum yet: follows FROM. */
export const NOT_SUMMED_UP = `(SELECT key_id, model_id, created_at, resolved_at, settled, released, state, latency_ms
    FROM charges WHERE (account_id, id) < ($1, '${AFTER_EVERY_ID}') AND (account_id, id) >= ($1, '') ORDER BY account_id DESC, id DESC LIMIT ${NEWEST}) AS newest
  WHERE resolved_at >= (SELECT through FROM usage_progress)`;

/** Of charges that ended, by key and model, and what is added to sums that are there. */
const BY_WORK = `coalesce(key_id, ''), coalesce(model_id, ''), count(*), coalesce(sum(settled), 0),
    count(*) FILTER (WHERE state = 'released'), coalesce(sum(latency_ms), 0), count(latency_ms)`;
const ADDED = `requests = d.requests + excluded.requests, settled = d.settled + excluded.settled,
    failures = d.failures + excluded.failures, latency_ms = d.latency_ms + excluded.latency_ms,
    timed = d.timed + excluded.timed`;

/** All sums of the charges that ended from $1 to $2. */
const ADD_SUMS = `WITH ended AS MATERIALIZED (
    SELECT account_id, key_id, model_id, created_at, settled, released, state, latency_ms FROM charges
    WHERE resolved_at >= $1::timestamptz AND resolved_at < $2::timestamptz),
  days AS (
    INSERT INTO usage_days AS d (account_id, day, key_id, model_id, requests, settled, failures, latency_ms, timed)
    SELECT account_id, (created_at AT TIME ZONE 'UTC')::date, ${BY_WORK}
    FROM ended GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ON CONFLICT (account_id, day, key_id, model_id) DO UPDATE SET ${ADDED}),
  recent AS (
    INSERT INTO usage_recent AS d (account_id, at, key_id, model_id, requests, settled, failures, latency_ms, timed)
    SELECT account_id, date_bin('5 minutes', created_at, timestamptz '2000-01-01 00:00:00+00'), ${BY_WORK}
    FROM ended WHERE created_at >= now() - interval '${KEPT.usage_recent.days} days'
    GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ON CONFLICT (account_id, at, key_id, model_id) DO UPDATE SET ${ADDED})
  INSERT INTO usage_quarters AS q (account_id, quarter, requests, settled, failures, given_back)
  SELECT account_id, date_bin('15 minutes', created_at, timestamptz '2000-01-01 00:00:00+00'), count(*),
    coalesce(sum(settled), 0), count(*) FILTER (WHERE state = 'released'),
    coalesce(sum(released) FILTER (WHERE state = 'released'), 0)
  FROM ended WHERE created_at >= now() - interval '${KEPT.usage_quarters.days} days' GROUP BY 1, 2 ORDER BY 1, 2
  ON CONFLICT (account_id, quarter) DO UPDATE SET requests = q.requests + excluded.requests,
    settled = q.settled + excluded.settled, failures = q.failures + excluded.failures,
    given_back = q.given_back + excluded.given_back`;

interface Wanted {
  horizon: string;
  slice: { ms: number };
  chunk: number;
}

/** Adds the next window of time; false at the horizon. The row of the progress is the lock. */
async function addWindow(client: pg.PoolClient, wanted: Wanted): Promise<boolean> {
  // Charges of a time are found by their range index, whatever the planner thinks of an empty or a new table.
  await client.query('SET LOCAL enable_seqscan = off');
  const { rows } = await client.query<{ through: string }>(
    `SELECT CASE WHEN through = '-infinity' THEN $1::timestamptz - interval '${KEPT.usage_days.days} days' ELSE through END::text
       AS through FROM usage_progress FOR UPDATE`,
    [wanted.horizon],
  );
  const from = rows[0]!.through;
  const to = await windowEnd(client, from, wanted);
  if (to === null) return false;
  await client.query(ADD_SUMS, [from, to]);
  await client.query('UPDATE usage_progress SET through = $1::timestamptz', [to]);
  return true;
}

/** The horizon, or as far as there are not many more charges than a chunk; null when nothing is left. */
async function windowEnd(client: pg.ClientBase, from: string, wanted: Wanted): Promise<string | null> {
  const { horizon, slice, chunk } = wanted;
  for (;;) {
    const { rows } = await client.query<{ to: string; left: boolean; count: number }>(
      `SELECT w.to::text, $1::timestamptz < w.to AS left, (SELECT count(*)::int FROM (
         SELECT FROM charges WHERE resolved_at >= $1::timestamptz AND resolved_at < w.to LIMIT $4 + 1) AS found) AS count
       FROM (SELECT least($2::timestamptz, $1::timestamptz + $3::float8 * interval '1 ms') AS to) AS w`,
      [from, horizon, slice.ms, chunk],
    );
    const { to, left, count } = rows[0] as (typeof rows)[number];
    if (!left) return null;
    if (count > chunk && slice.ms > SHORTEST_SLICE_MS) {
      slice.ms /= 2;
      continue;
    }
    if (count < chunk / 4) slice.ms = Math.min(slice.ms * 4, LONGEST_SLICE_MS);
    return to;
  }
}
