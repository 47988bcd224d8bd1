import type pg from 'pg';
import { outboxInsert, outboxRow } from '#bus/outbox.js';
import { topics } from '#bus/topics.js';
import { revokeSessions } from '#identity/session.store.js';
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
  /** It can be cancelled until then. */
  dueAt: Date;
  waitingFor: DeletionBlocker | null;
}

export interface DeletionOrder {
  accountId: string;
  /** As named in the audit log: the owner, or staff because of a ticket. */
  requestedBy: string;
  ticketId: string | null;
  /** Whether a remaining balance may be forfeited. */
  forfeits: boolean;
  /** How long it can be cancelled. */
  graceMs: number;
  requestId: string;
}

const COLUMNS = `id, account_id AS "accountId", state, forfeits, requested_at AS "requestedAt", due_at AS "dueAt",
  waiting_for AS "waitingFor"`;

/** The requested, running or completed deletion of an account; null if there is none, or it was cancelled. */
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
 * Records the request to delete an account in the caller's transaction. From its commit on, no key works and nobody is
 * signed in. The owner may cancel until it is due. A repeat gives the same answer.
 * @throws ApiError conflict for a debt, for a balance that may not be forfeited, and for a colleague; UnknownAccount
 */
export async function requestDeletion(client: pg.ClientBase, order: DeletionOrder): Promise<Deletion> {
  const { accountId, requestedBy, ticketId, forfeits, requestId } = order;
  const account = await lockBalance(client, accountId);
  const existing = await findDeletion(client, accountId);
  if (existing) return existing;
  const userId = await lockPerson(client, accountId);
  refuseMoney(account, forfeits);
  const deletion = await insertDeletion(client, order);
  await client.query('UPDATE accounts SET closing_at = now() WHERE id = $1', [accountId]);
  await revokeKeys(client, accountId);
  if (userId !== null) await endAccess(client, userId);
  await audit(client, {
    actor: requestedBy,
    action: 'account.deletion_requested',
    accountId,
    after: { deletionId: deletion.id, dueAt: deletion.dueAt.toISOString(), forfeits, ticketId },
    requestId,
  });
  return deletion;
}

async function insertDeletion(client: pg.ClientBase, order: DeletionOrder): Promise<Deletion> {
  const { accountId, requestedBy, ticketId, forfeits, graceMs } = order;
  const { rows } = await client.query<Deletion>(
    `INSERT INTO deletion_requests (id, account_id, requested_by, ticket_id, forfeits, due_at, next_try_at)
     SELECT $1, $2, $3, $4, $5, due, due FROM (SELECT now() + $6::float8 * interval '1 millisecond' AS due) AS times
     RETURNING ${COLUMNS}`,
    [newId(), accountId, requestedBy, ticketId, forfeits, graceMs],
  );
  return rows[0]!;
}

interface Cancelling {
  accountId: string;
  by: string;
  requestId: string | null;
  /** Why staff cancels it. */
  reason?: string;
}

/**
 * Cancels the request before it is due. Keys stay revoked, since they stopped working when it was made.
 * @returns false if there is nothing to cancel, or no longer
 */
export async function cancelDeletion(
  client: pg.ClientBase,
  { accountId, by, requestId, reason }: Cancelling,
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
    accountId,
    requestId,
    after: { deletionId: rows[0].id, reason },
  });
  return true;
}

/** Revokes every active key, and notifies every gateway. Like a hold, the caller holds the lock of the balances. */
export async function revokeKeys(client: pg.ClientBase, accountId: string): Promise<void> {
  const { rows } = await client.query<{ id: string }>(
    'UPDATE api_keys SET revoked_at = clock_timestamp() WHERE account_id = $1 AND revoked_at IS NULL RETURNING id',
    [accountId],
  );
  if (rows.length === 0) return;
  const events = rows.map(({ id: keyId }) => outboxRow(topics.keyChanged, { keyId, accountId }));
  await client.query(outboxInsert('billing', events));
}

/** The locked person of an account, so that a sign-in is either ended here or sees the deletion. */
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
  await revokeSessions(client, userId);
  await client.query('DELETE FROM password_resets WHERE user_id = $1', [userId]);
}
