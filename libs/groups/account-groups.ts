import type pg from 'pg';
import { lockHolds } from '#database/locks.js';

type Database = pg.Pool | pg.ClientBase;

/** A group in which an account may create keys, because it is open to everyone or was granted. */
export interface AccountGroup {
  readonly group: string;
  readonly isOpen: boolean;
  /** Null: it is open to everyone. */
  readonly grant: Grant | null;
}

interface Grant {
  /** Who granted it, as named in the audit log. */
  readonly by: string;
  readonly at: Date;
  readonly ticketId: string | null;
}

/** The groups in which an account may create keys, by name. */
export async function groupsOfAccount(database: Database, accountId: string): Promise<AccountGroup[]> {
  const { rows } = await database.query<{
    group: string;
    isOpen: boolean;
    by: string | null;
    at: Date | null;
    ticketId: string | null;
  }>(
    `SELECT g.name AS "group", g.open AS "isOpen", a.granted_by AS by, a.granted_at AS at, a.ticket_id AS "ticketId"
     FROM groups g LEFT JOIN account_groups a ON a.group_name = g.name AND a.account_id = $1
     WHERE g.open OR a.account_id IS NOT NULL ORDER BY g.name`,
    [accountId],
  );
  return rows.map(({ group, isOpen, by, at, ticketId }) => ({
    group,
    isOpen,
    grant: by === null || at === null ? null : { by, at, ticketId },
  }));
}

/** The groups in which every account may create keys. */
export async function openGroupNames(database: Database): Promise<ReadonlySet<string>> {
  const { rows } = await database.query<{ name: string }>('SELECT name FROM groups WHERE open');
  return new Set(rows.map(({ name }) => name));
}

/** Whether an account may create keys in a group; false also for an unknown group. */
export async function hasGroup(
  database: Database,
  { accountId, group }: { accountId: string; group: string },
): Promise<boolean> {
  const { rows } = await database.query(
    `SELECT FROM groups g WHERE g.name = $2 AND (g.open OR EXISTS (
       SELECT FROM account_groups a WHERE a.account_id = $1 AND a.group_name = g.name))`,
    [accountId, group],
  );
  return rows.length > 0;
}

/** Grants a group to an account. A repeat changes nothing. False if the account had it, or there is no such group. */
export async function grantGroup(
  client: pg.ClientBase,
  grant: { accountId: string; group: string; by: string; ticketId?: string | undefined },
): Promise<boolean> {
  const { accountId, group, by, ticketId = null } = grant;
  const { rowCount } = await client.query(
    `INSERT INTO account_groups (account_id, group_name, granted_by, ticket_id)
     SELECT $1, name, $3, $4 FROM groups WHERE name = $2 ON CONFLICT DO NOTHING`,
    [accountId, group, by, ticketId],
  );
  return rowCount === 1;
}

/**
 * Withdraws a granted group in the caller's transaction. Like every hold, it first locks the balances, so a hold is
 * decided either before it or without the group. False if it was not granted.
 */
export async function withdrawGroup(
  client: pg.ClientBase,
  { accountId, group }: { accountId: string; group: string },
): Promise<boolean> {
  await lockHolds(client, accountId);
  const { rowCount } = await client.query(
    'DELETE FROM account_groups WHERE account_id = $1 AND group_name = $2',
    [accountId, group],
  );
  return rowCount === 1;
}
