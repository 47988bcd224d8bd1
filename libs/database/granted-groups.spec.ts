import { expect, it } from 'vitest';
import type pg from 'pg';
import { databaseAcross } from '../../test/support/earlier-schema.js';

const GRANTING = '0048_granted_groups.sql';

const database = databaseAcross(GRANTING, customersOfThoseDays);

/** Accounts with keys of groups that everybody could name at that time. */
async function customersOfThoseDays(owner: pg.Client): Promise<void> {
  await owner.query(`INSERT INTO groups (name)
    VALUES ('Vendora-Main'), ('Public-Relay'), ('Half-Price'), ('Unused') ON CONFLICT DO NOTHING`);
  await owner.query(`INSERT INTO accounts (id, name) VALUES ('live', 'l'), ('revoked', 'r'), ('open', 'o')`);
  await owner.query(`INSERT INTO api_keys (id, account_id, name, key_hash, group_name, revoked_at)
    SELECT id, account_id, id, sha256(id::bytea), group_name, revoked_at FROM (VALUES
      ('one', 'live', 'Half-Price', NULL), ('two', 'live', 'Half-Price', NULL),
      ('three', 'live', 'Vendora-Main', NULL), ('four', 'live', 'Unused', now()),
      ('five', 'revoked', 'Half-Price', now()), ('six', 'open', 'Public-Relay', NULL)
    ) AS k (id, account_id, group_name, revoked_at)`);
}

it('opens the groups that everybody has, and no others', async () => {
  const { rows } = await database().query('SELECT name, open FROM groups ORDER BY name');
  expect(rows).toEqual([
    { name: 'Half-Price', open: false },
    { name: 'Public-Relay', open: true },
    { name: 'Unused', open: false },
    { name: 'Vendora-Main', open: true },
  ]);
});

it('grants each account what its live keys use, once, but nothing that it had given up', async () => {
  const { rows } = await database().query(
    `SELECT account_id AS account, group_name AS "group", granted_by AS by, ticket_id AS ticket,
       granted_at IS NOT NULL AS dated FROM account_groups`,
  );
  expect(rows).toEqual([{ account: 'live', group: 'Half-Price', by: 'system', ticket: null, dated: true }]);
});
