import type pg from 'pg';
import type { Nanos } from '#money/amount.js';
import { inviteReward, REWARDED_TOPUPS } from './reward.js';

/** The account of an invite code, or null. Case and surrounding spaces are ignored. */
export async function accountOfCode(database: pg.Pool | pg.ClientBase, code: string): Promise<string | null> {
  const { rows } = await database.query<{ id: string }>('SELECT id FROM accounts WHERE invite_code = $1', [
    code.trim().toLowerCase(),
  ]);
  return rows[0]?.id ?? null;
}

/**
 * Records who invited an account, in the transaction that creates it and never later, so nobody can invite themselves
 * or their inviter. The database also refuses a ring.
 */
export async function recordInvitation(
  client: pg.ClientBase,
  { inviteeId, inviterId }: { inviteeId: string; inviterId: string },
): Promise<void> {
  await client.query('INSERT INTO invitations (invitee_account_id, inviter_account_id) VALUES ($1, $2)', [
    inviteeId,
    inviterId,
  ]);
}

/** Who invited an account, or null. It never changes, so it needs no lock. */
export async function findInviter(client: pg.ClientBase, accountId: string): Promise<string | null> {
  const { rows } = await client.query<{ inviterId: string }>(
    'SELECT inviter_account_id AS "inviterId" FROM invitations WHERE invitee_account_id = $1',
    [accountId],
  );
  return rows[0]?.inviterId ?? null;
}

/**
 * The reward for the latest top-up of an invitee, and its number among those of new money. The top-up is already written
 * and the invitee's balances are locked, so two top-ups cannot both be the first.
 */
export async function earnedReward(
  client: pg.ClientBase,
  { inviteeId, credits }: { inviteeId: string; credits: Nanos },
): Promise<{ ordinal: number; amount: Nanos }> {
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM (SELECT FROM topups WHERE account_id = $1 AND continues IS NULL LIMIT $2) AS first`,
    [inviteeId, REWARDED_TOPUPS + 1],
  );
  const ordinal = rows[0]?.count ?? 0;
  return { ordinal, amount: inviteReward(credits, ordinal) };
}
