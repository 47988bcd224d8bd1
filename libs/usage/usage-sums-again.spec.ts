import { afterAll, beforeAll, expect, it } from 'vitest';
import pg from 'pg';
import { openPool } from '#database/database.js';
import { newId } from '#platform/ids.js';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { acrossMigration } from '../../test/support/earlier-schema.js';
import { until } from '../../test/support/eventually.js';
import { sumUpUsage } from './usage-summary.js';

const BEGIN_AGAIN = '0084_usage_day_sums.sql';
/** What a program from before 0078 adds to: it knows neither latencies nor the five-minute sums. */
const ADD_AS_BEFORE = `
  INSERT INTO usage_days AS d (account_id, day, key_id, model_id, requests, settled, failures)
  SELECT account_id, (created_at AT TIME ZONE 'UTC')::date, key_id, model_id, count(*), sum(settled), 0
  FROM charges GROUP BY 1, 2, 3, 4
  ON CONFLICT (account_id, day, key_id, model_id) DO UPDATE SET requests = d.requests + excluded.requests,
    settled = d.settled + excluded.settled, failures = d.failures + excluded.failures`;

let database: TestDatabase;
let pool: pg.Pool;
let job: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = openPool({ url: database.ownerUrl, max: 4, applicationName: 'usage-sums-again' });
  job = new pg.Client({ connectionString: database.ownerUrl });
  await job.connect();
});
afterAll(async () => {
  await job.end();
  await pool.end();
  await database.drop();
});

/** Creates two at one time, so that no day or five minutes can end between them. */
async function charge(): Promise<void> {
  await pool.query(
    `INSERT INTO charges (id, account_id, key_id, model_id, state, amount, settled, released, latency_ms, created_at, resolved_at)
     SELECT id, 'account', 'key', 'model', 'settled', 10, 7, 3, latency_ms, now() - interval '1 minute', now()
     FROM (VALUES ($1, 100), ($2, 300)) AS each (id, latency_ms)`,
    [newId(), newId()],
  );
}

async function rowsOf(table: string): Promise<unknown[]> {
  return (await pool.query(`SELECT * FROM ${table}`)).rows;
}

/** The previous version's sums, added while the migration waits for them. */
async function addBeside(): Promise<void> {
  await until('the migration to wait for the job', async () => {
    const { rows } = await pool.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  });
  await job.query(ADD_AS_BEFORE);
  await job.query(`UPDATE usage_progress SET through = 'infinity'`);
  await job.query('COMMIT');
}

it('adds up again what a program of the previous version wrote, even while it wrote', async () => {
  const held = Promise.withResolvers<void>();
  const applied = acrossMigration(database, BEGIN_AGAIN, async () => {
    await charge();
    await job.query('BEGIN');
    await job.query('SELECT FROM usage_progress FOR UPDATE');
    held.resolve();
  });
  await held.promise;
  await Promise.all([addBeside(), expect(applied).resolves.toEqual([BEGIN_AGAIN])]);
  await expect(job.query(ADD_AS_BEFORE)).rejects.toMatchObject({ code: '23502', column: 'latency_ms' });
  await sumUpUsage(pool);
  const sums = { requests: 2n, settled: 14n, failures: 0n };
  const timed = { latency_ms: 400n, timed: 2n };
  expect(await rowsOf('usage_days')).toEqual([expect.objectContaining({ ...sums, ...timed })]);
  expect(await rowsOf('usage_recent')).toEqual([expect.objectContaining({ ...sums, ...timed })]);
  expect(await rowsOf('usage_quarters')).toEqual([expect.objectContaining({ ...sums, given_back: 0n })]);
});
