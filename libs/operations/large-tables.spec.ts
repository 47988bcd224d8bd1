import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type pg from 'pg';
import { FinanceReader } from '#payments/finance.reader.js';
import { readPaymentsConfig } from '#payments/payments.config.js';
import { AccountReader } from '#people/accounts/account.reader.js';
import { AuditReader } from '#people/audit.reader.js';
import { RolesService } from '#people/roles.service.js';
import { ConfigReader } from '#platform/config.js';
import { listTasks } from '#usage/task.reader.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { pagesRead } from '../../test/support/pages-read.js';
import { ProgramReader } from './program.reader.js';

/** Of each kind, so that reading all of them takes far more pages. */
const MANY = 5_000;
const MOST_PAGES = 40;
/** A page looks at as many tasks as there are, which fill a few hundred pages. */
const MOST_SCANNED_PAGES = 1_000;
const FIRST_PAGE = { limit: 5 };

let ledger: LedgerFixture;
/** Has many keys and disputes. */
let accountId: string;
let keyId: string;

const FILLED: Record<string, string> = {
  accounts: `INSERT INTO accounts (id, name) SELECT $1 || '-' || n, 'one of many' FROM generate_series(1, $2::int) AS n`,
  users: `INSERT INTO users (id, account_id, email, password_hash)
    SELECT $1 || '-' || n, $1 || '-' || n, n || '@example.com', 'none' FROM generate_series(1, $2::int) AS n`,
  audit_log: `INSERT INTO audit_log (actor, action, subject, account_id)
    SELECT 'system', 'key.changed', 'key:' || n, $1 FROM generate_series(1, $2::int) AS n`,
  dead_letters: `INSERT INTO dead_letters (topic, partition, "offset", payload, reason, replayed_at, replayed_by)
    SELECT $1, 0, n, repeat('x', 200), 'unreadable', now(), 'cli:root' FROM generate_series(1, $2::int) AS n`,
  payment_events: `INSERT INTO payment_events (provider, event_id, type, payload, state, detail)
    SELECT 'stripe', n, $1, '{}', 'applied', 'credited' FROM generate_series(1, $2::int) AS n`,
  disputes: `INSERT INTO disputes (provider, dispute_id, topup_id, account_id, amount_minor, state, credits, paid_minor, opened_at)
    SELECT 'stripe', n, t.id, $1, 1, 'open', 1, 1, now() - n * interval '1 hour'
    FROM generate_series(1, $2::int) AS n, topups t WHERE t.account_id = $1`,
  api_keys: `INSERT INTO api_keys (id, account_id, name, key_hash, group_name, created_at, revoked_at)
    SELECT $1 || '-' || n, $1, 'earlier', sha256(n::text::bytea), 'Vendora-Main', now() - interval '1 year', now() - interval '100 days'
    FROM generate_series(1, $2::int) AS n`,
  charges: `INSERT INTO charges (id, account_id, state, amount, settled, released, created_at, resolved_at)
    SELECT $1 || '-' || n, $1, 'settled', 1, 1, 0, now(), now() FROM generate_series(1, $2::int) AS n`,
  tasks: `INSERT INTO tasks (id, kind, account_id, key_id, charge_id, dialect, state, model_id, requested_model, request, seconds,
      deadline, group_name, ended_at)
    SELECT 'task' || lpad(n::text, 22, '0'), 'video', $1, $1 || '-' || n, $1 || '-' || n, 'openai', 'failed', 'vidmodel-3', 'vidmodel-3', '{}', 5,
      now(), 'Vendora-Main', now() FROM generate_series(1, $2::int) AS n`,
  key_spend: `INSERT INTO key_spend (key_id, month, spent)
    SELECT $1 || '-' || n, date_trunc('month', now() - interval '200 days'), 1 FROM generate_series(1, $2::int) AS n`,
};

beforeAll(async () => {
  ledger = await createLedgerFixture();
  ({ accountId, keyId } = await ledger.account({ credits: '10' }));
  for (const text of Object.values(FILLED)) await ledger.owner.query(text, [accountId, MANY]);
  await ledger.owner.query(`ANALYZE ${Object.keys(FILLED).join(', ')}`);
});
afterAll(() => ledger?.close());

const finance = (pool: pg.Pool) =>
  new FinanceReader({ pool, config: { payments: readPaymentsConfig(new ConfigReader({})) } });
const pages = (work: (pool: pg.Pool) => Promise<unknown>) => pagesRead(ledger.billing, work);

describe('in large tables, few pages are read', () => {
  it('for the people with a role of staff', async () => {
    const read = pages((pool) => new RolesService(pool).list({ ...FIRST_PAGE, role: 'finance' }));
    expect(await read).toBeLessThan(MOST_PAGES);
  });

  it('for what was done rarely', async () => {
    const read = pages((pool) => new AuditReader(pool).list({ ...FIRST_PAGE, action: 'period.closed' }));
    expect(await read).toBeLessThan(MOST_PAGES);
  });

  it('for the newest disputes', async () => {
    const read = pages(async (pool) => {
      const { items } = await finance(pool).disputes({ ...FIRST_PAGE, where: [] });
      expect(items.map(({ disputeId }) => disputeId)).toEqual(['1', '2', '3', '4', '5']);
    });
    expect(await read).toBeLessThan(MOST_PAGES);
  });

  it('for the events of payments in a rare state', async () => {
    const read = pages((pool) => finance(pool).events({ ...FIRST_PAGE, where: [['state = ?', 'suspense']] }));
    expect(await read).toBeLessThan(MOST_PAGES);
  });

  it('to count the messages that nobody has replayed', async () => {
    const read = pages((pool) => new ProgramReader(pool, { reportMs: 1 }).programs());
    expect(await read).toBeLessThan(MOST_PAGES);
  });

  it('for an account with many keys that were revoked long ago', async () => {
    const month = `date_trunc('month', now() AT TIME ZONE 'UTC')`;
    const spent = `INSERT INTO key_spend (key_id, month, spent) VALUES ($1, ${month}, 1000000000)`;
    const revoked = await ledger.key(accountId);
    for (const id of [keyId, revoked]) await ledger.owner.query(spent, [id]);
    await ledger.revoke(revoked);
    const read = pages(async (pool) => {
      expect(await new AccountReader(pool).show(accountId)).toMatchObject({ spentThisMonth: '2' });
    });
    expect(await read).toBeLessThan(MOST_PAGES);
  });

  it('for a page of many tasks, whose charges are only read if they are shown', async () => {
    const read = pages(async (pool) => {
      const page = { limit: 5, after: null };
      expect((await listTasks(pool, { accountId, filter: {} }, page)).items).toHaveLength(5);
    });
    expect(await read).toBeLessThan(MOST_SCANNED_PAGES);
  });
});
