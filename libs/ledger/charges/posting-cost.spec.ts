import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type pg from 'pg';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { openPool } from '#database/database.js';
import { parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { PostingEngine } from './posting-engine.js';

/**
 * The database cost of a charged image, counted rather than timed: a change that makes each call more expensive fails
 * here. An image is a hold and its end. If a change makes it cheaper, lower the figure.
 */
const MOST = { roundTrips: 2, statements: 2, walBytes: 4_000 };

const IMAGES = 20;
/** The lowest of several counts, because sometimes a page splits, or is written in full after a checkpoint. */
const ROUNDS = 12;

let ledger: LedgerFixture;
let pool: pg.Pool;
/** The engine's connection. */
let client: pg.PoolClient;
let engine: PostingEngine;
let customer: { accountId: string; keyId: string };
const counted = { roundTrips: 0, statements: 0 };

beforeAll(async () => {
  ledger = await createLedgerFixture();
  pool = openPool({ url: ledger.urlFor('billing'), max: 1, applicationName: 'cost' });
  pool.on('connect', (connected) => {
    client = connected;
    count(connected);
  });
  engine = new PostingEngine({ pool, loadPriceBook, log: ledger.log });
  customer = await ledger.account({ credits: '1000' });
});
afterAll(async () => {
  await engine?.close();
  await pool?.end();
  await ledger?.close();
});

/** A statement that is sent while nothing is pending begins a round trip. The others share it. */
function count(client: pg.PoolClient): void {
  const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown> | undefined;
  let onTheWay = 0;
  client.query = ((...args: unknown[]) => {
    const answer = query(...args);
    // The pool's own queries use a callback. They are not the engine's.
    if (!answer) return;
    counted.statements += 1;
    if (onTheWay === 0) counted.roundTrips += 1;
    onTheWay += 1;
    return answer.finally(() => (onTheWay -= 1));
  }) as typeof client.query;
}

async function bill(): Promise<void> {
  await resolve(await hold());
}

/** @returns the charge's ID */
async function hold(): Promise<string> {
  const chargeId = newId();
  await engine.hold({
    chargeId,
    ...customer,
    model: 'imgmodel-4',
    requestedModel: 'imgmodel-4',
    group: 'Vendora-Main',
    units: 1n,
    quotedAmount: parseAmount('0.03'),
    taskId: null,
    requestId: newId(),
    expiresAtMs: Date.now() + 60_000,
    deadlineMs: Date.now() + 60_000,
  });
  return chargeId;
}

async function resolve(chargeId: string): Promise<void> {
  await engine.resolve({
    chargeId,
    accountId: customer.accountId,
    outcome: 'delivered',
    deliveredUnits: null,
    channel: 'sandbox',
    reason: null,
    upstreamStatus: 200,
    latencyMs: 1_000,
  });
}

/** The plans of the statements that the engine's connection has prepared, as its batches use them. */
async function plans(): Promise<string[]> {
  const { rows } = await client.query<{ name: string; parameters: number }>(
    `SELECT name, cardinality(parameter_types) AS parameters FROM pg_prepared_statements WHERE name LIKE 'ledger-%'`,
  );
  const found: string[] = [];
  for (const { name, parameters } of rows) {
    const values = Array.from({ length: parameters }, () => 'NULL').join(', ');
    const plan = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN EXECUTE "${name}" (${values})`);
    found.push(plan.rows.map((line) => line['QUERY PLAN']).join('\n'));
  }
  return found;
}

async function walBytes(): Promise<number> {
  await client.query('SELECT pg_stat_force_next_flush()');
  const { rows } = await client.query<{ bytes: string }>(
    'SELECT wal_bytes::text AS bytes FROM pg_stat_get_backend_wal(pg_backend_pid())',
  );
  return Number(rows[0]?.bytes);
}

describe('a charged image', () => {
  it(`takes ${MOST.roundTrips} round trips with ${MOST.statements} statements`, async () => {
    await bill();
    Object.assign(counted, { roundTrips: 0, statements: 0 });
    await bill();
    expect(counted).toEqual({ roundTrips: MOST.roundTrips, statements: MOST.statements });
  });

  it(`writes at most ${MOST.walBytes} bytes of log`, async () => {
    const perImage: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = await walBytes();
      for (let image = 0; image < IMAGES; image += 1) await bill();
      perImage.push(((await walBytes()) - before) / IMAGES);
    }
    expect(Math.min(...perImage)).toBeLessThanOrEqual(MOST.walBytes);
  });

  it('is looked up by key even if its plans were made while the tables were small', async () => {
    const first = await hold();
    await ledger.owner.query('VACUUM ANALYZE charges, customer_balances, api_keys, key_spend');
    await Promise.all([resolve(first), hold()]);
    await bill();
    const reads = (await plans())
      .join('\n')
      .match(/Scan.* on (charges|customer_balances|api_keys|key_spend).*\n.*/g)!;
    expect(reads.length).toBeGreaterThanOrEqual(8);
    expect(reads.filter((read) => !/\n +Index Cond: .*(id|key_id) = /.test(read))).toEqual([]);
  });
});
