import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type pg from 'pg';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { inTransaction, openPool } from '#database/database.js';
import { nanos, parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { until } from '../../../test/support/eventually.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { checkLedger } from '../checks/ledger-check.js';
import { readBalance } from '../postings/customer-account.js';
import type { HoldCommand } from './charge.js';
import { PostingEngine } from './posting-engine.js';

/** Batches of one or two postings that are sent before the previous one is answered. */

type Customer = Pick<HoldCommand, 'accountId' | 'keyId'>;

const PRICE = parseAmount('0.03');

let ledger: LedgerFixture;
let pool: pg.Pool;
let engine: PostingEngine;
let customer: Customer;
/** The names of the statements that the engine has sent since the test began. */
let sent: string[];

beforeAll(async () => {
  ledger = await createLedgerFixture();
  pool = openPool({ url: ledger.urlFor('billing'), max: 4, applicationName: 'lane' });
  pool.on('connect', record);
});
afterAll(async () => {
  await pool?.end();
  await ledger?.close();
});
beforeEach(async () => {
  customer = await ledger.account({ credits: '1' });
  sent = [];
});

function record(client: pg.PoolClient): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  client.query = ((...args: unknown[]) => {
    const { name } = args[0] as { name?: string };
    if (name) sent.push(name);
    return query(...args);
  }) as typeof client.query;
}

async function withEngine(maxBatch: number, work: () => Promise<void>): Promise<void> {
  engine = engineOf(maxBatch);
  await work().finally(() => engine.close());
}

function engineOf(maxBatch: number): PostingEngine {
  return new PostingEngine({ pool, loadPriceBook, log: ledger.log, maxBatch, followFrom: 1 });
}

async function hold(
  of: Customer = customer,
  chargeId = newId(),
  { by = engine, units = 1n } = {},
): Promise<string> {
  const result = await by.hold({
    chargeId,
    ...of,
    model: 'imgmodel-4',
    requestedModel: 'imgmodel-4',
    group: 'Vendora-Main',
    units,
    quotedAmount: nanos(PRICE * units),
    taskId: null,
    requestId: newId(),
    expiresAtMs: Date.now() + 60_000,
    deadlineMs: Date.now() + 60_000,
    clientIp: '192.0.2.7',
  });
  return result.outcome === 'held' ? 'held' : result.code;
}

async function resolve(chargeId: string, { accountId }: Customer, by = engine): Promise<string> {
  const { outcome } = await by.resolve({
    chargeId,
    accountId,
    outcome: 'delivered',
    deliveredUnits: null,
    channel: null,
    reason: null,
    upstreamStatus: null,
    latencyMs: null,
  });
  return outcome;
}

function countOf(decided: 'locked' | 'remembered' | 'following'): number {
  return sent.filter((name) => name.startsWith(`ledger-write-${decided}`)).length;
}

/** How many of the engines' connections wait for a lock. */
async function blocked(): Promise<number> {
  const { rows } = await ledger.owner.query<{ count: bigint }>(
    `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'lane' AND wait_event_type = 'Lock'`,
  );
  return Number(rows[0]?.count);
}

/**
 * Another engine holds credits just before the commands of `work`, which were decided without knowing it.
 * @returns their answers
 */
async function whileAnotherHolds(units: bigint, work: () => Promise<string>[]): Promise<string[]> {
  const other = engineOf(1);
  const { waiting, first } = await inTransaction(ledger.owner, async (client) => {
    await client.query('SELECT FROM customer_balances WHERE account_id = $1 FOR UPDATE', [
      customer.accountId,
    ]);
    const first = hold(customer, newId(), { by: other, units });
    await until('the other engine to wait', async () => (await blocked()) === 1);
    const waiting = work();
    await until('a batch to wait behind it', async () => (await blocked()) === 2);
    return { waiting, first };
  });
  expect(await first.finally(() => other.close())).toBe('held');
  return Promise.all(waiting);
}

describe('a batch that follows another', () => {
  it('is decided from what the earlier one will have written, and sent without waiting for it', async () => {
    await withEngine(2, async () => {
      expect(await hold()).toBe('held');
      sent = [];
      expect(await Promise.all(Array.from({ length: 8 }, () => hold()))).toEqual(Array(8).fill('held'));
      expect(countOf('locked')).toBe(0);
      expect(countOf('following')).toBeGreaterThan(0);
      expect(await readBalance(pool, customer.accountId)).toMatchObject({
        main: parseAmount('0.73'),
        held: parseAmount('0.27'),
      });
    });
  });

  it('is decided again if the earlier one was not written', async () => {
    await withEngine(2, async () => {
      expect(await hold()).toBe('held');
      sent = [];
      const answers = await whileAnotherHolds(31n, () => Array.from({ length: 4 }, () => hold()));
      expect(countOf('following')).toBe(1);
      expect(answers.sort()).toEqual(['held', ...Array(3).fill('insufficient_user_quota')]);
    });
  });

  it('is written if it does not need the earlier one, which was not written', async () => {
    await withEngine(2, async () => {
      const another = await ledger.account({ credits: '1' });
      expect([await hold(), await hold(another)]).toEqual(['held', 'held']);
      const answers = await whileAnotherHolds(32n, () => [hold(), hold(), hold(another), hold(another)]);
      expect(answers).toEqual(['insufficient_user_quota', 'insufficient_user_quota', 'held', 'held']);
    });
  });

  it('is decided again if a command of the earlier one cannot be written', async () => {
    const refused = newId();
    await ledger.owner.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
       CREATE TRIGGER refuse BEFORE INSERT ON charges FOR EACH ROW WHEN (NEW.id = '${refused}') EXECUTE FUNCTION refuse()`,
    );
    await withEngine(2, async () => {
      expect(await hold()).toBe('held');
      sent = [];
      const answers = await Promise.allSettled(
        [refused, newId(), newId(), newId()].map((id) => hold(customer, id)),
      );
      expect(answers.map(({ status }) => status)).toEqual(['rejected', ...Array(3).fill('fulfilled')]);
      expect(countOf('following')).toBe(1);
      expect(await hold()).toBe('held');
      expect(await readBalance(pool, customer.accountId)).toMatchObject({ held: parseAmount('0.15') });
    });
    await ledger.owner.query('DROP FUNCTION refuse CASCADE');
  });

  it('does not mistake an earlier batch for the one that was not written', async () => {
    await withEngine(1, async () => {
      const first = newId();
      expect(await hold()).toBe('held');
      expect(await hold(customer, first)).toBe('held');
      await ledger.owner.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [customer.keyId]);
      sent = [];
      // The balance is as the last batch left it, which is not the one that was followed.
      expect(await Promise.all([hold(), resolve(first, customer)])).toEqual(['key_revoked', 'settled']);
      expect(countOf('following')).toBe(1);
      expect(await readBalance(pool, customer.accountId)).toMatchObject({
        main: parseAmount('0.94'),
        held: PRICE,
      });
    });
  });

  it('fails with the earlier one if their connection is lost, and a repeat holds once', async () => {
    await withEngine(1, async () => {
      expect(await hold()).toBe('held');
      const ids = [newId(), newId()];
      const attempts = await inTransaction(ledger.owner, async (client) => {
        const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
        await client.query('SELECT FROM customer_balances WHERE account_id = $1 FOR UPDATE', [
          customer.accountId,
        ]);
        const waiting = Promise.allSettled(ids.map((id) => hold(customer, id)));
        await until('the batches to be cut off', async () => {
          const sql =
            'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))';
          return (await ledger.owner.query(sql, [rows[0]?.pid])).rowCount;
        });
        return { waiting };
      });
      expect((await attempts.waiting).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      expect(await Promise.all(ids.map((id) => hold(customer, id)))).toEqual(['held', 'held']);
      expect(await readBalance(pool, customer.accountId)).toMatchObject({ held: parseAmount('0.09') });
    });
  });

  it('charges everything once, beside another engine that does the same', async () => {
    await withEngine(3, async () => {
      const other = engineOf(2);
      const customers = await Promise.all(Array.from({ length: 3 }, () => ledger.account({ credits: '3' })));
      const image = async (index: number) => {
        const [of, id] = [customers[index % 3]!, newId()];
        const [by, then] = index % 2 ? [engine, other] : [other, engine];
        expect(await hold(of, id, { by })).toBe('held');
        expect(await resolve(id, of, index % 5 ? by : then)).toBe('settled');
      };
      await Promise.all(Array.from({ length: 150 }, (_, index) => image(index))).finally(() => other.close());
      for (const { accountId } of customers)
        expect(await readBalance(pool, accountId)).toMatchObject({ main: parseAmount('1.5'), held: 0n });
    });
  });

  it('does not keep other accounts waiting behind one that is locked', async () => {
    await withEngine(400, async () => {
      const others = await Promise.all(Array.from({ length: 8 }, () => ledger.account({ credits: '1' })));
      const holdAll = () => Promise.all(others.map((of) => hold(of)));
      await Promise.all([hold(), holdAll()]);
      const { waiting } = await inTransaction(ledger.owner, async (client) => {
        await client.query('SELECT FROM customer_balances WHERE account_id = $1 FOR UPDATE', [
          customer.accountId,
        ]);
        const first = hold();
        await until('it to wait', async () => (await blocked()) === 1);
        const behind = holdAll();
        // They are sent at the end of this turn.
        await new Promise(setImmediate);
        expect(await holdAll()).toEqual(Array(8).fill('held'));
        expect(await blocked()).toBe(1);
        return { waiting: Promise.all([first, behind]) };
      });
      expect((await waiting).flat()).toEqual(Array(9).fill('held'));
    });
  });

  it('leaves books that agree', async () => {
    expect((await checkLedger(ledger.billing, { graceMs: 0 })).violations).toEqual([]);
  });
});
