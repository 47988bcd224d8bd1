import type pg from 'pg';
import { newId } from '#platform/ids.js';
import { checkedName } from './refusal.js';

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
}

/**
 * Inserts a new customer account and returns its id. The caller creates its ledger accounts in the same transaction,
 * because an account without balances would refuse every call.
 * @throws IdentityRefusal for a name that is empty or too long
 */
export async function insertAccount(client: pg.ClientBase, name: string): Promise<string> {
  const id = newId();
  await client.query('INSERT INTO accounts (id, name) VALUES ($1, $2)', [id, checkedName(name)]);
  return id;
}

export async function findAccount(
  database: pg.Pool | pg.ClientBase,
  accountId: string,
): Promise<Account | null> {
  const { rows } = await database.query<Account>(
    'SELECT id, name, created_at AS "createdAt" FROM accounts WHERE id = $1',
    [accountId],
  );
  return rows[0] ?? null;
}

/** The addresses of the people who can sign in to it. */
export async function emailsOfAccount(
  database: pg.Pool | pg.ClientBase,
  accountId: string,
): Promise<string[]> {
  const { rows } = await database.query<{ email: string }>(
    'SELECT email FROM users WHERE account_id = $1 AND disabled_at IS NULL',
    [accountId],
  );
  return rows.map(({ email }) => email);
}

/** Until the transaction ends. Holds do not wait for it: they lock the balances. */
export async function lockAccount(client: pg.ClientBase, accountId: string): Promise<void> {
  await client.query('SELECT FROM accounts WHERE id = $1 FOR NO KEY UPDATE', [accountId]);
}

/**
 * Whether an account is to be deleted, or was. This changes under the lock of the account's balances, so a transaction
 * that holds the lock may rely on the answer.
 */
export async function isClosing(database: pg.Pool | pg.ClientBase, accountId: string): Promise<boolean> {
  const { rowCount } = await database.query('SELECT FROM accounts WHERE id = $1 AND closing_at IS NOT NULL', [
    accountId,
  ]);
  return rowCount === 1;
}

/** Whether an account was deleted: its balance is of no use to anyone. Known under the lock of its balances, like `isClosing`. */
export async function isDeleted(database: pg.Pool | pg.ClientBase, accountId: string): Promise<boolean> {
  const { rowCount } = await database.query('SELECT FROM accounts WHERE id = $1 AND deleted_at IS NOT NULL', [
    accountId,
  ]);
  return rowCount === 1;
}
