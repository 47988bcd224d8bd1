import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import pg from 'pg';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { Registry } from '#platform/metrics.js';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { socketOf, TcpSwitch } from '../../test/support/tcp-switch.js';
import { bigintTransformer, inTransaction, isTransient, openDataSource, openPool } from './database.js';
import { type EntityTransaction, inEntityTransaction } from './entity-transaction.js';
import { limitStatements } from './pooled-client.js';

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = openPool({ url: database.ownerUrl, max: 4, applicationName: 'spec' });
  await pool.query('CREATE TABLE counters (id int PRIMARY KEY, amount_nanos bigint NOT NULL)');
});

afterEach(() => pool.query('TRUNCATE counters'));

afterAll(async () => {
  await pool.end();
  await database.drop();
});

async function failure(promise: Promise<unknown>): Promise<Error & { code?: string }> {
  return promise.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: Error) => error,
  );
}

describe('openPool', () => {
  it('reads int8 as bigint, exactly, and leaves numeric a string', async () => {
    const { rows } = await pool.query(
      `SELECT 9007199254740993::int8 AS big, ARRAY[1, NULL, 9223372036854775807]::int8[] AS bigs,
              0.10::numeric AS price, 7::int4 AS small, NULL::int8 AS nothing, $1::int8 AS echoed, $2::int8[] AS all_echoed`,
      [-9007199254740993n, [5n, 9007199254740993n]],
    );
    expect(rows[0]).toEqual({
      big: 9007199254740993n,
      bigs: [1n, null, 9223372036854775807n],
      price: '0.10',
      small: 7,
      nothing: null,
      echoed: -9007199254740993n,
      all_echoed: [5n, 9007199254740993n],
    });
  });

  it('changes nothing for other users of pg in the process', async () => {
    const plain = new pg.Client({ connectionString: database.ownerUrl });
    await plain.connect();
    expect((await plain.query('SELECT 1::int8 AS one')).rows).toEqual([{ one: '1' }]);
    await plain.end();
  });

  it('survives the loss of a connection that is checked out', async () => {
    const client = await pool.connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const lost = new Promise((resolve) => client.once('end', resolve));
    await pool.query('SELECT pg_terminate_backend($1)', [rows[0]!.pid]);
    await lost;
    const error = await failure(client.query('SELECT 1'));
    client.release(error);
    expect(isTransient(error)).toBe(true);
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });
});

describe('inTransaction', () => {
  it('commits the work, and nothing of work that throws', async () => {
    await inTransaction(pool, (client) => client.query('INSERT INTO counters VALUES (1, 10)'));
    const error = await failure(
      inTransaction(pool, async (client) => {
        await client.query('INSERT INTO counters VALUES (2, 20)');
        throw new Error('changed my mind');
      }),
    );
    expect(error.message).toBe('changed my mind');
    expect((await pool.query('SELECT id, amount_nanos FROM counters')).rows).toEqual([
      { id: 1, amount_nanos: 10n },
    ]);
  });

  it('does not count as committed if a failed statement was swallowed', async () => {
    const work = inTransaction(pool, async (client) => {
      await client.query('INSERT INTO counters VALUES (1, 10)');
      await client.query('SELECT 1 / 0').catch(() => undefined);
    });
    await expect(work).rejects.toThrow('rolled back');
    expect((await pool.query('SELECT FROM counters')).rowCount).toBe(0);
  });

  it('reruns deadlocked work until both sides are done', async () => {
    await pool.query('INSERT INTO counters VALUES (1, 0), (2, 0)');
    let meeting = 0;
    let arrived: () => void;
    const both = new Promise<void>((resolve) => (arrived = resolve));
    let runs = 0;
    const add = (first: number, second: number) =>
      inTransaction(pool, async (client) => {
        runs += 1;
        await client.query('UPDATE counters SET amount_nanos = amount_nanos + 1 WHERE id = $1', [first]);
        meeting += 1;
        if (meeting === 2) arrived();
        await both;
        await client.query('UPDATE counters SET amount_nanos = amount_nanos + 1 WHERE id = $1', [second]);
      });
    await Promise.all([add(1, 2), add(2, 1)]);
    // One of the two reruns. On a busy machine, their next meeting may be another deadlock.
    expect(runs).toBeGreaterThanOrEqual(3);
    expect((await pool.query('SELECT amount_nanos FROM counters')).rows).toEqual([
      { amount_nanos: 2n },
      { amount_nanos: 2n },
    ]);
  });

  it('gives up after the given number of runs', async () => {
    let runs = 0;
    const work = inTransaction(
      pool,
      (client) => {
        runs += 1;
        return client.query(`DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END $$`);
      },
      { retries: 2 },
    );
    await expect(work).rejects.toMatchObject({ code: '40001' });
    expect(runs).toBe(3);
  });
});

describe('isTransient', () => {
  it('recognises a database that is unreachable', async () => {
    const nowhere = openPool({ url: 'postgresql://a:b@127.0.0.1:1/c', max: 1, applicationName: 'spec' });
    expect(isTransient(await failure(nowhere.query('SELECT 1')))).toBe(true);
    const noSocket = openPool({ url: 'postgresql://a:b@%2Fnowhere:5432/c', max: 1, applicationName: 'spec' });
    expect(isTransient(await failure(noSocket.query('SELECT 1')))).toBe(true);
  });

  it('recognises a statement that took too long', async () => {
    const hasty = openPool({
      url: database.ownerUrl,
      max: 1,
      applicationName: 'spec',
      statementTimeoutMs: 20,
    });
    expect(isTransient(await failure(hasty.query('SELECT pg_sleep(10)')))).toBe(true);
    await hasty.end();
  });

  it('distinguishes a broken rule from a broken database', async () => {
    await pool.query('INSERT INTO counters VALUES (1, 0)');
    expect(isTransient(await failure(pool.query('INSERT INTO counters VALUES (1, 0)')))).toBe(false);
    expect(isTransient(await failure(pool.query('SELECT nonsense')))).toBe(false);
    expect(isTransient(new Error('wrapped', { cause: Object.assign(new Error(), { code: '57P01' }) }))).toBe(
      true,
    );
    expect(isTransient(undefined)).toBe(false);
  });
});

@Entity('counters')
class Counter {
  @PrimaryColumn({ type: 'int' })
  id!: number;

  @Column({ name: 'amount_nanos', type: 'bigint', transformer: bigintTransformer })
  amountNanos!: bigint;
}

const connect = (url: string, settings: { max: number; registry?: Registry }) =>
  openDataSource({
    url,
    applicationName: 'spec-entities',
    statementTimeoutMs: 500,
    entities: [Counter],
    ...settings,
  });

/** Each waits for seconds, so they wait at the same time. */
describe.concurrent('a server that is silent or slow', () => {
  it('is recognised by a pool, which then uses a new connection', async () => {
    const way = await TcpSwitch.open(socketOf(database.ownerUrl));
    const patient = openPool({
      url: way.urlOf(database.ownerUrl),
      max: 1,
      applicationName: 'spec',
      statementTimeoutMs: 500,
    });
    try {
      // The limit of one transaction must not outlive it: it would be longer than this spec.
      await inTransaction(patient, (client) => limitStatements(client, 60_000));
      way.silence();
      const lost = failure(patient.query('SELECT 1'));
      way.speak();
      expect(isTransient(await lost)).toBe(true);
      // On a new connection, since the old one would never answer.
      expect((await patient.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    } finally {
      await patient.end();
      await way.close();
    }
  });

  it('is recognised by a data source, which then uses a new connection', async () => {
    const way = await TcpSwitch.open(socketOf(database.ownerUrl));
    const source = await connect(way.urlOf(database.ownerUrl), { max: 1 });
    try {
      way.silence();
      const lost = failure(source.query('SELECT 1'));
      way.speak();
      expect(isTransient(await lost)).toBe(true);
      expect(await source.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    } finally {
      await source.destroy();
      await way.close();
    }
  });

  it('gets as long as a transaction says, and only in it', async () => {
    const hasty = openPool({
      url: database.ownerUrl,
      max: 1,
      applicationName: 'spec',
      statementTimeoutMs: 500,
    });
    // Longer than the client itself waits for a statement that may take 500 ms.
    const sleep = (client: pg.ClientBase) => client.query('SELECT pg_sleep(6)');
    await inTransaction(hasty, async (client) => {
      await limitStatements(client, 120_000);
      await sleep(client);
    });
    expect(isTransient(await failure(inTransaction(hasty, sleep)))).toBe(true);
    await hasty.end();
  });
});

describe('openDataSource', () => {
  it('serves entities whose bigint columns are exact', async () => {
    const source = await connect(database.ownerUrl, { max: 2 });
    const counters = source.getRepository(Counter);
    await counters.save({ id: 1, amountNanos: 9007199254740993n });
    expect(await counters.findOneBy({ amountNanos: 9007199254740993n })).toEqual({
      id: 1,
      amountNanos: 9007199254740993n,
    });
    await source.destroy();
  });

  it('does not count a transaction as committed if a failed statement was swallowed', async () => {
    const source = await connect(database.ownerUrl, { max: 1 });
    const add = (id: number) => (transaction: EntityTransaction) =>
      transaction.client.query('INSERT INTO counters VALUES ($1, 0)', [id]);
    const work = inEntityTransaction(source, async (transaction) => {
      await add(1)(transaction);
      await transaction.client.query('SELECT 1 / 0').catch(() => undefined);
    });
    await expect(work).rejects.toThrow('rolled back');
    await inEntityTransaction(source, add(10));
    expect((await pool.query('SELECT id FROM counters')).rows).toEqual([{ id: 10 }]);
    await source.destroy();
  });

  it('never commits what was left of a transaction that got no answer', async () => {
    const source = await connect(database.ownerUrl, { max: 1 });
    const add = (id: number) => (transaction: EntityTransaction) =>
      transaction.client.query('INSERT INTO counters VALUES ($1, 0)', [id]);
    let pid = 0;
    const hung = failure(
      inEntityTransaction(source, async (transaction) => {
        await add(1)(transaction);
        const { rows } = await transaction.client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
        pid = rows[0]!.pid;
        process.kill(pid, 'SIGSTOP');
        await add(2)(transaction);
      }),
    );
    expect((await hung.finally(() => process.kill(pid, 'SIGCONT'))).message).toContain('Query read timeout');
    await inEntityTransaction(source, add(10));
    expect((await pool.query('SELECT id FROM counters')).rows).toEqual([{ id: 10 }]);
    await source.destroy();
  });

  it('shows how full it is', async () => {
    const registry = new Registry();
    const source = await connect(database.ownerUrl, { max: 3, registry });
    expect(await registry.metrics()).toContain('database_connections_limit{pool="spec-entities"} 3');
    await source.destroy();
  });
});
