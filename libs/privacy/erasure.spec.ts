import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import pg from 'pg';
import { newId } from '#platform/ids.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { erase } from './erasure.js';

let fixture: LedgerFixture;
/** One connection, which reads tables by their indexes where there are any, as in a large database. */
let pool: pg.Pool;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  pool = new pg.Pool({
    connectionString: fixture.urlFor('billing'),
    max: 1,
    options: '-c enable_seqscan=off -c enable_bitmapscan=off',
  });
});
afterAll(async () => {
  await pool?.end();
  await fixture?.close();
});

async function count(column: string, view: string, table: string): Promise<number> {
  await pool.query('SELECT pg_stat_force_next_flush()');
  const { rows } = await fixture.owner.query<{ count: string }>(
    `SELECT ${column} AS count FROM ${view} WHERE relname = $1`,
    [table],
  );
  return Number(rows[0]!.count);
}

function eraseAccount(accountId: string): Promise<void> {
  return erase(pool, { accountId, userId: null, email: null }, () => Promise.resolve());
}

async function accountWithCharges(charges: number): Promise<string> {
  const { accountId } = await fixture.account({ credits: '1' });
  await fixture.owner.query(
    `INSERT INTO charges (id, account_id, state, refusal_code, request_id)
     SELECT $1 || '-' || lpad(n::text, 6, '0'), $1, 'refused', 'insufficient_user_quota', 'request'
     FROM generate_series(1, $2::int) AS n`,
    [accountId, charges],
  );
  return accountId;
}

describe('an erasure', () => {
  it('reads each charge of a long list once', async () => {
    await fixture.owner.query('ANALYZE charges');
    const read = () => count('idx_tup_fetch', 'pg_stat_user_tables', 'charges');
    const accountId = await accountWithCharges(8_000);
    await fixture.owner.query('ANALYZE charges');
    const before = await read();
    await eraseAccount(accountId);
    // Once to find it, and once to change it.
    expect((await read()) - before).toBeLessThan(2.5 * 8_000);
    // By the same connection, whose scans are counted at once: another's could be counted in the next test.
    const { rows } = await pool.query(
      'SELECT FROM charges WHERE account_id = $1 AND request_id IS NOT NULL',
      [accountId],
    );
    expect(rows).toEqual([]);
  });

  it('leaves out no batch whose commit the database refuses once, as after a deadlock', async () => {
    const accountId = await accountWithCharges(1_500);
    await fixture.owner.query(`CREATE SEQUENCE refusals;
      CREATE FUNCTION refuse_once() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN
          IF nextval('refusals') = 1 THEN RAISE EXCEPTION 'refused' USING ERRCODE = '40001'; END IF;
          RETURN NULL;
        END $$;
      CREATE CONSTRAINT TRIGGER refuse_once AFTER UPDATE ON charges DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION refuse_once()`);
    try {
      await eraseAccount(accountId);
    } finally {
      await fixture.owner.query('DROP TRIGGER refuse_once ON charges');
    }
    const { rows } = await fixture.owner.query<{ refused: boolean; left: number }>(
      `SELECT (SELECT last_value > 1 FROM refusals) AS refused, count(*)::int AS left FROM charges
       WHERE account_id = $1 AND request_id IS NOT NULL`,
      [accountId],
    );
    expect(rows).toEqual([{ refused: true, left: 0 }]);
  });

  it("does not read everybody's deliveries", async () => {
    const { accountId } = await fixture.account({ credits: '1' });
    const tables = ['webhook_deliveries', 'webhook_endpoints', 'tasks', 'charges', 'ticket_messages'];
    await fixture.owner.query(
      `INSERT INTO webhook_endpoints (id, account_id, url, events, secret, deleted_at)
       SELECT $1 || n, $2, 'https://example.com', '{task.completed}', 'none', now() FROM generate_series(1, 3) AS n`,
      [newId(), accountId],
    );
    const scans = () => Promise.all(tables.map((table) => count('seq_scan', 'pg_stat_user_tables', table)));
    const before = await scans();
    await eraseAccount(accountId);
    expect(await scans()).toEqual(before);
  });
});
