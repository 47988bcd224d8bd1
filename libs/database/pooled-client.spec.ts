import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { openPool } from './database.js';
import type { PooledClient } from './pooled-client.js';

const QUERIES = 300;
const BYTES = 20_000;

let database: TestDatabase;
let pool: pg.Pool;
let client: pg.PoolClient;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = openPool({ url: database.ownerUrl, max: 1, applicationName: 'spec' });
  client = await pool.connect();
});
afterAll(async () => {
  client.release();
  await pool.end();
  await database.drop();
});

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { type: 'minor' | 'major' }) => void;

describe('PooledClient', () => {
  it('leaves nothing of a query for a full collection', async () => {
    const ask = () => client.query('SELECT $1::text AS echoed', ['x'.repeat(BYTES)]);
    await ask();
    collect({ type: 'major' });
    const { heapUsed } = process.memoryUsage();
    for (let query = 0; query < QUERIES; query += 1) await ask();
    collect({ type: 'minor' });
    collect({ type: 'minor' });
    // Each answer alone is as large.
    expect(process.memoryUsage().heapUsed - heapUsed).toBeLessThan((QUERIES * BYTES) / 4);
  });

  it('passes errors to callers and to callbacks, with the stack of the caller', async () => {
    const error = await (async function asker() {
      await client.query('SELECT 1 / 0');
    })().catch((reason: Error) => reason);
    expect(error).toMatchObject({ code: '22012', stack: expect.stringContaining('asker') });
    const passed = new Promise((resolve) => client.query('SELECT 1 / 0', resolve));
    expect(await passed).toMatchObject({ code: '22012' });
  });

  it('is dropped when an answer takes too long', async () => {
    const others = openPool({ url: database.ownerUrl, max: 1, applicationName: 'spec' });
    const holder = await others.connect();
    await holder.query('SELECT pg_advisory_lock(1)');
    (client as unknown as PooledClient).answerLimitMs = 50;
    await expect(client.query('SELECT pg_advisory_lock(1)')).rejects.toThrow('Query read timeout');
    await expect(client.query('SELECT 1')).rejects.toThrow();
    holder.release();
    await others.end();
  });
});
