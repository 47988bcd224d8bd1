import { newId } from '#platform/ids.js';
import type { Actor, Role } from '#identity/role.js';
import type { LedgerFixture } from './ledger.js';

export interface StaffMember {
  userId: string;
  accountId: string;
  email: string;
}

/** Somebody of the staff without a session, for what the command line does in their name. */
export async function staffMember(
  fixture: Pick<LedgerFixture, 'owner' | 'account'>,
  ...roles: Role[]
): Promise<StaffMember> {
  const { accountId } = await fixture.account({ credits: '0' });
  const userId = newId();
  const email = `${userId}@example.com`;
  await fixture.owner.query(
    'INSERT INTO users (id, account_id, email, password_hash, roles) VALUES ($1, $2, $3, $4, $5)',
    [userId, accountId, email, 'none', ['user', ...roles]],
  );
  return { userId, accountId, email };
}

/** Somebody of the staff as the session of a request would name them. */
export async function staffActor(
  fixture: Pick<LedgerFixture, 'owner' | 'account'>,
  ...roles: Role[]
): Promise<Actor> {
  return { ...(await staffMember(fixture, ...roles)), sessionId: newId(), roles: ['user', ...roles] };
}
