import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import pg from 'pg';
import { openPool } from '#database/database.js';
import type { DatabaseRole } from '#database/roles.js';
import { newId } from '#platform/ids.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';

/** The lock of closed periods, directly in SQL: it applies to every role. */

const DAY_MS = 86_400_000;
const END = new Date(Date.now() - 10 * DAY_MS).toISOString();
const LATER_END = new Date(Date.now() - 5 * DAY_MS).toISOString();

let fixture: LedgerFixture;
let owner: pg.Pool;
let billing: pg.Pool;
let suspense: bigint;
let bank: bigint;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  ({ owner, billing } = fixture);
  const { rows } = await owner.query<{ code: string; id: bigint }>(
    `SELECT code, id FROM ledger_accounts WHERE code IN ('suspense:pay', 'psp:manual')`,
  );
  suspense = rows.find(({ code }) => code === 'suspense:pay')?.id as bigint;
  bank = rows.find(({ code }) => code === 'psp:manual')?.id as bigint;
});
afterAll(() => fixture.close());

/** A complete transaction of 1 minor unit in one statement, as the engine writes it. */
async function posting(database: pg.Pool | pg.ClientBase, effectiveAt: string): Promise<bigint> {
  const { rows } = await database.query<{ id: bigint }>(
    `WITH taken AS (SELECT nextval('ledger_transaction_blocks') AS id),
       head AS (INSERT INTO ledger_transactions (id, kind, reference, effective_at)
         SELECT id, 'test', $1, $2 FROM taken RETURNING id),
       entries AS (INSERT INTO ledger_entries (transaction_id, ordinal, commodity, ledger_account_id, amount)
         SELECT id, v.ordinal, 'PAY', v.account, v.amount
         FROM taken, (VALUES (0, $3::bigint, 1), (1, $4::bigint, -1)) AS v (ordinal, account, amount))
     SELECT id FROM head`,
    [newId(), effectiveAt, suspense, bank],
  );
  return rows[0]?.id as bigint;
}

async function begin(end: string): Promise<bigint> {
  const { rows } = await billing.query<{ id: bigint }>(
    `INSERT INTO ledger_periods (starts_at, ends_at, waivers, request_id, closed_by)
     VALUES ((SELECT coalesce(max(ends_at), '-infinity') FROM ledger_periods WHERE state = 'closed'), $1, '[]', $2, 'cli')
     RETURNING id`,
    [end, newId()],
  );
  return rows[0]?.id as bigint;
}

const CLOSED = `state = 'closed', checklist = '[]', balances_hash = decode(repeat('00', 32), 'hex'),
  closing_recorded_before = now(), ended_at = now()`;

const BEFORE = new Date(Date.parse(END) - DAY_MS).toISOString();

/** As this role, after the owner has granted what it would need. */
async function as<T>(role: DatabaseRole, work: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const pool = openPool({ url: fixture.urlFor(role), max: 1, applicationName: `test-${role}` });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

describe('the lock of a period', () => {
  let old: bigint;
  let first: bigint;

  it('does not begin before the end, elsewhere than at the last close, or twice', async () => {
    old = await posting(billing, BEFORE);
    await expect(begin(new Date(Date.now() + DAY_MS).toISOString())).rejects.toThrow('has not ended');
    await expect(
      owner.query(
        `INSERT INTO ledger_periods (starts_at, ends_at, waivers, request_id, closed_by)
         VALUES ('2020-01-01', $1, '[]', 'r', 'cli')`,
        [END],
      ),
    ).rejects.toThrow('where the last closed one ends');
    first = await begin(END);
    await expect(begin(LATER_END)).rejects.toThrow('ledger_periods_one_closing');
  });

  it.each(['billing', 'owner', 'gateway', 'worker'] as const)(
    'refuses a posting of %s inside the period, as soon as it is closing',
    async (role) => {
      await owner.query(`GRANT SELECT, INSERT ON ledger_transactions, ledger_entries, ledger_periods, ledger_horizons
        TO tollgate_gateway, tollgate_worker; GRANT USAGE ON SEQUENCE ledger_transaction_blocks
        TO tollgate_gateway, tollgate_worker;
        GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO tollgate_gateway, tollgate_worker`);
      await as(role, async (pool) => {
        await expect(posting(pool, BEFORE)).rejects.toMatchObject({ code: 'LP001' });
        await expect(posting(pool, '-infinity')).rejects.toMatchObject({ code: 'LP001' });
        expect(await posting(pool, END)).toBeGreaterThan(old);
      });
    },
  );

  it('refuses transactions that might not see that it is closing', async () => {
    for (const isolation of ['REPEATABLE READ', 'SERIALIZABLE']) {
      const client = await billing.connect();
      await client.query(`BEGIN ISOLATION LEVEL ${isolation}`);
      await expect(posting(client, new Date().toISOString())).rejects.toMatchObject({ code: 'LP002' });
      await client.query('ROLLBACK');
      client.release();
    }
  });

  it('refuses entries in old transactions, to the owner too', async () => {
    const since = await posting(billing, new Date().toISOString());
    await billing.query('UPDATE ledger_periods SET last_ledger_id = $2 WHERE id = $1', [first, since]);
    const slip = (pool: pg.Pool, id: bigint) =>
      pool.query(
        `INSERT INTO ledger_entries (transaction_id, ordinal, commodity, ledger_account_id, amount)
         VALUES ($1, 8, 'PAY', $2, 5), ($1, 9, 'PAY', $3, -5)`,
        [id, suspense, bank],
      );
    for (const pool of [billing, owner])
      await expect(slip(pool, old)).rejects.toMatchObject({ code: 'LP001' });
  });

  it('opens again when the close is abandoned', async () => {
    await billing.query(
      `UPDATE ledger_periods SET state = 'abandoned', abandoned_reason = 'tried', ended_at = now() WHERE id = $1`,
      [first],
    );
    expect(await posting(billing, BEFORE)).toBeGreaterThan(old);
  });

  it('stays for good when it is closed: no role changes, reopens or deletes it', async () => {
    const closed = await begin(END);
    await billing.query(`UPDATE ledger_periods SET last_ledger_id = 5, ${CLOSED} WHERE id = $1`, [closed]);
    for (const pool of [billing, owner]) {
      await expect(posting(pool, BEFORE)).rejects.toMatchObject({ code: 'LP001' });
      for (const change of [`state = 'closing', ended_at = NULL`, `checklist = '[1]'`, `note = 'x'`]) {
        await expect(
          pool.query(`UPDATE ledger_periods SET ${change} WHERE id = $1`, [closed]),
        ).rejects.toThrow('it stays as it is');
      }
    }
    for (const statement of [
      'DELETE FROM ledger_periods',
      'TRUNCATE ledger_periods CASCADE',
      'DELETE FROM ledger_period_balances',
      'DELETE FROM late_postings',
    ])
      await expect(owner.query(statement)).rejects.toThrow('append-only');
    await expect(
      owner.query('INSERT INTO ledger_period_balances VALUES ($1, $2, 5)', [closed, bank]),
    ).rejects.toThrow('stay as they are');
    const next = await begin(LATER_END);
    await expect(
      owner.query(`UPDATE ledger_periods SET ends_at = now() WHERE id = $1`, [next]),
    ).rejects.toThrow('keeps its bounds');
    await expect(posting(billing, END)).rejects.toMatchObject({ code: 'LP001' });
  });

  it('does not let a clock that was set back post current events into closed books', async () => {
    // Seen from an end in the future, the current clock was set back.
    const { rows } = await owner.query<{ now: Date; end: Date }>(
      `SELECT ledger_effective_now() AS now, max(ends_at) AS end FROM ledger_periods WHERE state <> 'abandoned'`,
    );
    expect(rows[0]?.now.getTime()).toBeGreaterThan(rows[0]?.end.getTime() as number);
    await owner.query('ALTER TABLE ledger_periods DISABLE TRIGGER guard');
    const end = new Date(Date.now() + DAY_MS);
    await owner.query(`UPDATE ledger_periods SET ends_at = $1 WHERE state = 'closing'`, [end]);
    await owner.query('ALTER TABLE ledger_periods ENABLE TRIGGER guard');
    const set = await owner.query<{ now: Date }>('SELECT ledger_effective_now() AS now');
    expect(set.rows[0]?.now).toEqual(end);
  });
});
