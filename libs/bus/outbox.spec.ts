import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { INestMicroservice } from '@nestjs/common';
import type pg from 'pg';
import { openPool } from '#database/database.js';
import { Registry } from '#platform/metrics.js';
import {
  ask,
  busOn,
  gate,
  listOfTestTopics,
  Passing,
  silent,
  startProgram,
  testTopics,
  Till,
  tillController,
  until,
  type Ask,
} from '../../test/support/bus.js';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { InProcessTransport } from './in-process/in-process.transport.js';
import { outboxInsert, OutboxRelay, outboxRow, type OutboxRelayOptions } from './outbox.js';

/** Longer than any test: what is published in time was published because of a wake-up, not by polling. */
const NEVER_MS = 600_000;

describe('OutboxRelay', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  let transport: InProcessTransport;
  let till: Till;
  let program: INestMicroservice;
  let relays: OutboxRelay[];

  beforeAll(async () => {
    database = await createTestDatabase();
    pool = openPool({ url: database.urlFor('worker'), max: 8, applicationName: 'outbox-spec' });
  });

  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  beforeEach(async () => {
    till = new Till();
    relays = [];
    transport = createTransport();
    program = await startProgram(transport, [tillController(till)], { groups: ['till'] });
  });

  afterEach(async () => {
    for (const relay of relays) await relay.stop();
    await program.close();
    await transport.close();
    await pool.query('DELETE FROM outbox');
  });

  const createTransport = () =>
    new InProcessTransport({
      groups: ['till'],
      log: silent,
      registry: new Registry(),
      topics: listOfTestTopics,
      backoff: { initialMs: 1, maxMs: 5 },
      drainTimeoutMs: 100,
    });

  const startRelay = (options: Partial<OutboxRelayOptions> = {}) => {
    const relay = new OutboxRelay({
      pool,
      producer: 'worker',
      bus: busOn(transport),
      log: silent,
      registry: new Registry(),
      pollMs: 20,
      topics: listOfTestTopics,
      ...options,
    });
    relays.push(relay.start());
    return relay;
  };

  const write = (asks: Ask[], db: Pick<pg.ClientBase, 'query'> = pool) =>
    db.query(
      outboxInsert(
        'worker',
        asks.map((each) => outboxRow(testTopics.told, each)),
      ),
    );
  const rowsLeft = async () => {
    const { rows } = await pool.query<{ count: string }>('SELECT count(*)::text AS count FROM outbox');
    return Number(rows[0]?.count);
  };

  it('publishes the rows of each key in order, and deletes them', async () => {
    const asks = Array.from({ length: 1_200 }, (_, number) => ask(number, `a${number % 3}`));
    await write(asks);
    startRelay();
    await until('the outbox is empty', async () => (await rowsLeft()) === 0);
    expect(till.seen).toHaveLength(1_200);
    for (const account of ['a0', 'a1', 'a2']) {
      const numbers = till.numbersOf(account);
      expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    }
  });

  it('publishes at once when woken', async () => {
    const relay = startRelay({ pollMs: NEVER_MS });
    await write([ask(1)]);
    relay.wake();
    await until('the outbox is empty', async () => (await rowsLeft()) === 0);
  });

  it('loses no row that becomes visible after a later one', async () => {
    const slow = await pool.connect();
    await slow.query('BEGIN');
    await write([ask(1)], slow);
    await write([ask(2)]);
    startRelay();
    await until('the later row is published', () => till.numbersOf('a1').includes(2));
    await slow.query('COMMIT');
    slow.release();
    await until('the earlier row is published', () => till.numbersOf('a1').includes(1));
  });

  it('keeps a row until its publication is acknowledged', async () => {
    const blocked = gate();
    till.work = async () => blocked.opened;
    await write([ask(1)]);
    startRelay();
    await until('it is being published', () => till.seen.length === 1);
    expect(await rowsLeft()).toBe(1);
    blocked.open();
    await until('the outbox is empty', async () => (await rowsLeft()) === 0);
    expect(till.seen).toHaveLength(1);
  });

  it('publishes only its own producer’s rows', async () => {
    await write([ask(1)]);
    await pool.query(outboxInsert('gateway', [outboxRow(testTopics.told, ask(2))]));
    startRelay({ producer: 'gateway' });
    await until('its own row is published', async () => (await rowsLeft()) === 1);
    expect(till.numbersOf('a1')).toEqual([2]);
    const own = startRelay({ pollMs: NEVER_MS });
    own.wake();
    await until('the outbox is empty', async () => (await rowsLeft()) === 0);
    expect(till.numbersOf('a1')).toEqual([2, 1]);
  });

  it('lets one relay publish, which the others only wake', async () => {
    const blocked = gate();
    till.work = async () => blocked.opened;
    await write([ask(1)]);
    startRelay();
    await until('it is being published', () => till.seen.length === 1);
    let notices = 0;
    const listener = await pool.connect();
    listener.on('notification', () => (notices += 1));
    await listener.query('LISTEN outbox_worker');
    startRelay();
    // If this failed before the gate is open, whatever waits for it would never end.
    try {
      await until('the other has looked', () => notices > 0 || till.seen.length > 1);
      expect(till.seen).toHaveLength(1);
    } finally {
      listener.release(true);
      blocked.open();
    }
    await until('the outbox is empty', async () => (await rowsLeft()) === 0);
    expect(till.seen).toHaveLength(1);
  });

  it('lets no row overtake a failed one with the same key', async () => {
    const failing = gate();
    let isFirst = true;
    const bus = busOn(transport);
    const broken: Pick<typeof bus, 'publishText'> = {
      publishText: async (...message) => {
        if (!isFirst) return bus.publishText(...message);
        isFirst = false;
        await failing.opened;
        throw new Passing('the connection is gone');
      },
    };
    startRelay({ bus: Object.assign(Object.create(bus), broken) as typeof bus });
    await write([ask(1)]);
    await until('the first row is on its way', () => !isFirst);
    await write([ask(2), ask(3, 'other')]);
    await until('a row of another key goes by', () => till.numbersOf('other').length === 1);
    failing.open();
    await until('the outbox is empty', async () => (await rowsLeft()) === 0);
    expect(till.numbersOf('a1')).toEqual([1, 2]);
  });

  it('leaves rows of topics that this version does not know', async () => {
    await pool.query(
      `INSERT INTO outbox (producer, topic, key, payload) VALUES ('worker', 'test.new', 'k', '{}')`,
    );
    await write([ask(1)]);
    startRelay();
    await until('only the unknown one is left', async () => (await rowsLeft()) === 1);
    expect(till.seen).toHaveLength(1);
  });

  it('makes the leading relay publish if another one is woken', async () => {
    const first = startRelay({ pollMs: NEVER_MS });
    await write([ask(1)]);
    first.wake();
    await until('the first leads', async () => (await rowsLeft()) === 0);
    const second = startRelay({ pollMs: NEVER_MS });
    await write([ask(2)]);
    second.wake();
    await until('the outbox is empty', async () => (await rowsLeft()) === 0);
    expect(till.numbersOf('a1')).toEqual([1, 2]);
  });

  it('hands over the lead when it stops', async () => {
    const first = startRelay();
    await write([ask(1)]);
    await until('the first leads', async () => (await rowsLeft()) === 0);
    startRelay();
    await first.stop();
    await write([ask(2)]);
    await until('the second took over', async () => (await rowsLeft()) === 0);
    expect(till.numbersOf('a1')).toEqual([1, 2]);
  });

  it('continues after its connection was cut', async () => {
    startRelay();
    await write([ask(1)]);
    await until('the outbox is empty', async () => (await rowsLeft()) === 0);
    const owner = openPool({ url: database.ownerUrl, max: 1, applicationName: 'outbox-spec-owner' });
    await owner.query(
      `SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
       WHERE l.locktype = 'advisory' AND d.datname = current_database() AND l.pid <> pg_backend_pid()`,
    );
    await owner.end();
    await write([ask(2)]);
    await until('the outbox is empty again', async () => (await rowsLeft()) === 0);
    expect(till.numbersOf('a1')).toEqual([1, 2]);
  });

  it('publishes again what the bus did not accept', async () => {
    const other = createTransport();
    const relay = startRelay({ bus: busOn(other) });
    await other.close();
    await write([ask(1)]);
    relay.wake();
    await until('it gives the row up for now', async () => (await rowsLeft()) === 1);
    await relay.stop();
    expect(till.seen).toEqual([]);
    startRelay();
    await until('the outbox is empty', async () => (await rowsLeft()) === 0);
    expect(till.numbersOf('a1')).toEqual([1]);
  });

  it('waits behind a message that its consumer cannot handle yet, while others pass', async () => {
    let stuck = true;
    till.work = async ({ account }) => {
      if (account === 'stuck' && stuck) throw new Passing('the database is gone');
    };
    await write([ask(1, 'stuck')]);
    startRelay();
    await until('it was tried', () => till.seen.length > 0);
    await write(Array.from({ length: 20 }, (_, number) => ask(number, `a${number}`)));
    await until('others were published', async () => (await rowsLeft()) < 15);
    stuck = false;
    await until('the outbox is empty', async () => (await rowsLeft()) === 0);
  });

  it('measures the backlog', async () => {
    const registry = new Registry();
    await pool.query(
      `INSERT INTO outbox (producer, topic, key, payload, created_at)
       VALUES ('worker', 'test.new', 'k', '{}', now() - interval '1 hour')`,
    );
    startRelay({ registry });
    await until('it is measured', async () =>
      (await registry.metrics()).includes('outbox_rows{producer="worker"} 1'),
    );
    expect(await registry.metrics()).toMatch(/outbox_oldest_seconds\{producer="worker"\} 36\d\d/);
  });
});
