import { newId } from '#platform/ids.js';
import type { Actor, Role } from '#identity/role.js';
import type { LedgerFixture } from './ledger.js';

export interface StaffMember {
  userId: string;
  accountId: string;
  email: string;
}

/** A staff member without a session, as when the command line acts for them. */
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

/** A staff member, as named by a request's session. */
export async function staffActor(
  fixture: Pick<LedgerFixture, 'owner' | 'account'>,
  ...roles: Role[]
): Promise<Actor> {
  return { ...(await staffMember(fixture, ...roles)), sessionId: newId(), roles: ['user', ...roles] };
}
