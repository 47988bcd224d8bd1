import type pg from 'pg';
import { outboxInsert, outboxRow } from '#bus/outbox.js';
import { topics } from '#bus/topics.js';
import { audit } from '#identity/audit-log.js';
import { type LockedAccount, lockBalance } from '#ledger/postings/posting.js';
import { formatAmount, nanos } from '#money/amount.js';
import { ApiError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';

type DeletionState = 'requested' | 'running' | 'done' | 'cancelled';
export type DeletionBlocker =
  | 'holds'
  | 'tasks'
  | 'refunds'
  | 'disputes'
  | 'approvals'
  | 'debt'
  | 'balance'
  | 'files';

export interface Deletion {
  id: string;
  accountId: string;
  state: DeletionState;
  forfeits: boolean;
  requestedAt: Date;
  /** Until then it can be cancelled. */
  dueAt: Date;
  waitingFor: DeletionBlocker | null;
}

export interface DeletionOrder {
  accountId: string;
  /** As the audit log names them: the owner, or staff by a ticket. */
  requestedBy: string;
  ticketId: string | null;
  /** Whether a balance that is left when it is carried out may be forfeited. */
  forfeits: boolean;
  /** How long it can be cancelled. */
  graceMs: number;
  requestId: string;
}

const COLUMNS = `id, account_id AS "accountId", state, forfeits, requested_at AS "requestedAt", due_at AS "dueAt",
  waiting_for AS "waitingFor"`;

/** The deletion of an account that is asked for, in progress or done; null: none, or it was cancelled. */
export async function findDeletion(
  database: pg.Pool | pg.ClientBase,
  accountId: string,
): Promise<Deletion | null> {
  const { rows } = await database.query<Deletion>(
    `SELECT ${COLUMNS} FROM deletion_requests WHERE account_id = $1 AND state <> 'cancelled'`,
    [accountId],
  );
  return rows[0] ?? null;
}

/**
 * Notes that an account is to be deleted, in the caller's transaction. From its commit on no key is good and nobody is signed
 * in; until it is due its owner may cancel. A repeat answers the same.
 * @throws ApiError conflict for a debt, for a balance that may not be forfeited, and for a colleague; UnknownAccount
 */
export async function requestDeletion(client: pg.ClientBase, order: DeletionOrder): Promise<Deletion> {
  const { accountId, requestedBy, ticketId, requestId } = order;
  const account = await lockBalance(client, accountId);
  const existing = await findDeletion(client, accountId);
  if (existing) return existing;
  const userId = await lockPerson(client, accountId);
  refuseMoney(account, order.forfeits);
  const { rows } = await client.query<Deletion>(
    `INSERT INTO deletion_requests (id, account_id, requested_by, ticket_id, forfeits, due_at, next_try_at)
     SELECT $1, $2, $3, $4, $5, due, due FROM (SELECT now() + $6::float8 * interval '1 millisecond' AS due) AS times
     RETURNING ${COLUMNS}`,
    [newId(), accountId, requestedBy, ticketId, order.forfeits, order.graceMs],
  );
  const deletion = rows[0]!;
  await client.query('UPDATE accounts SET closing_at = now() WHERE id = $1', [accountId]);
  await revokeKeys(client, accountId);
  if (userId !== null) await endAccess(client, userId);
  await audit(client, {
    actor: requestedBy,
    action: 'account.deletion_requested',
    subject: `account:${accountId}`,
    accountId,
    after: {
      deletionId: deletion.id,
      dueAt: deletion.dueAt.toISOString(),
      forfeits: order.forfeits,
      ticketId,
    },
    requestId,
  });
  return deletion;
}

/**
 * Takes the request back before it is due. Keys stay revoked: they were out of use from the moment that it was asked for.
 * @returns false when there is nothing to cancel, or no longer
 */
export async function cancelDeletion(
  client: pg.ClientBase,
  { accountId, by, requestId }: { accountId: string; by: string; requestId: string | null },
): Promise<boolean> {
  await lockBalance(client, accountId);
  const { rows } = await client.query<{ id: string }>(
    `UPDATE deletion_requests SET state = 'cancelled', ended_at = now(), waiting_for = NULL
     WHERE account_id = $1 AND state = 'requested' RETURNING id`,
    [accountId],
  );
  if (!rows[0]) return false;
  await client.query('UPDATE accounts SET closing_at = NULL WHERE id = $1', [accountId]);
  await audit(client, {
    actor: by,
    action: 'account.deletion_cancelled',
    subject: `account:${accountId}`,
    accountId,
    requestId,
    after: { deletionId: rows[0].id },
  });
  return true;
}

/** Revokes every key that is good, and announces it to every gateway. The caller holds the lock of the balances, as holds do. */
export async function revokeKeys(client: pg.ClientBase, accountId: string): Promise<void> {
  const { rows } = await client.query<{ id: string }>(
    'UPDATE api_keys SET revoked_at = clock_timestamp() WHERE account_id = $1 AND revoked_at IS NULL RETURNING id',
    [accountId],
  );
  if (rows.length === 0) return;
  const events = rows.map(({ id: keyId }) => outboxRow(topics.keyChanged, { keyId, accountId }));
  await client.query(outboxInsert('billing', events));
}

/** The person of an account, locked, so that a sign-in either is ended here or finds the account closing. */
async function lockPerson(client: pg.ClientBase, accountId: string): Promise<string | null> {
  const { rows } = await client.query<{ id: string; roles: string[] }>(
    'SELECT id, roles FROM users WHERE account_id = $1 FOR UPDATE',
    [accountId],
  );
  const person = rows[0];
  if (person?.roles.some((role) => role !== 'user'))
    throw new ApiError('conflict', 'This person has a staff role: an administrator must revoke it first.');
  return person?.id ?? null;
}

function refuseMoney({ main, invite }: LockedAccount, forfeits: boolean): void {
  if (main < 0n) {
    const debt = formatAmount(nanos(-main));
    throw new ApiError('conflict', `The balance is ${debt} below zero. Top up first, or contact support.`);
  }
  if (forfeits || main + invite === 0n) return;
  const left = formatAmount(nanos(main + invite));
  throw new ApiError(
    'conflict',
    `forfeitBalance: ${left} credits are left. Request a refund in a ticket first, or send true to forfeit them.`,
    { param: 'forfeitBalance' },
  );
}

async function endAccess(client: pg.ClientBase, userId: string): Promise<void> {
  await client.query('UPDATE sessions SET revoked_at = now() WHERE user_id = $1 AND revoked_at IS NULL', [
    userId,
  ]);
  await client.query('DELETE FROM password_resets WHERE user_id = $1', [userId]);
  await client.query('DELETE FROM email_changes WHERE user_id = $1', [userId]);
}
