import { afterEach, beforeEach, expect, it } from 'vitest';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { acrossMigration } from '../../test/support/earlier-schema.js';
import { audit } from './audit-log.js';

const REWRITING = '0043_no_addresses_in_the_audit_log.sql';

let database: TestDatabase;
let owner: pg.Client;

beforeEach(async () => {
  database = await createTestDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
});
afterEach(async () => {
  await owner.end();
  await database.drop();
});

const readLog = async () => {
  const { rows } = await owner.query('SELECT before, after FROM audit_log ORDER BY id');
  return rows as { before: unknown; after: unknown }[];
};

it('records no e-mail address, wherever a text contains one', async () => {
  await audit(owner, {
    actor: 'user:someone',
    action: 'approval.requested',
    subject: 'account:some',
    requestId: null,
    before: { list: ['old@example.com'] },
    after: { note: 'Asked for by Ada (ada@example.com).', amount: '5' },
  });
  expect(await readLog()).toEqual([
    { before: { list: ['[e-mail]'] }, after: { note: 'Asked for by Ada ([e-mail]).', amount: '5' } },
  ]);
});

it('rewrites what was recorded before, and protects the log again afterwards', async () => {
  const notes = () =>
    owner.query(`INSERT INTO audit_log (actor, action, subject, before, after) VALUES
      ('user:1', 'email.changed', 'user:1', '{"email": "old@example.com"}', '{"email": "new@example.com"}'),
      ('user:1', 'account.changed', 'account:1', '{"name": "Ada", "monthlyLimit": "5"}', '{"name": "Ada L", "monthlyLimit": "6"}'),
      ('user:1', 'key.changed', 'key:1', NULL, '{"allowedIps": ["192.0.2.7", "192.0.2.8"]}'),
      ('user:1', 'group.created', 'group:1', NULL, '{"name": "Vendora-Main", "tags": []}'),
      ('user:1', 'approval.requested', 'a:1', NULL, '{"reason": "line one\\nada@example.com", "deep": [{"to": "x@y.example"}]}')`);
  expect(await acrossMigration(database, REWRITING, notes)).toEqual([REWRITING]);
  expect(await readLog()).toEqual([
    { before: null, after: null },
    { before: { name: '[name]', monthlyLimit: '5' }, after: { name: '[name]', monthlyLimit: '6' } },
    { before: null, after: { allowedIps: 2 } },
    { before: null, after: { name: 'Vendora-Main', tags: [] } },
    { before: null, after: { reason: 'line one\n[e-mail]', deep: [{ to: '[e-mail]' }] } },
  ]);
  await expect(owner.query('UPDATE audit_log SET after = NULL')).rejects.toMatchObject({ code: '23001' });
});
