import type { Actor } from '#identity/role.js';
import { newId } from '#platform/ids.js';
import type { Speaker } from '#support/ticket.service.js';
import type { LedgerFixture } from './ledger.js';

/** A person from a customer's account, as the author of ticket messages. */
export async function customerOf(
  { owner }: Pick<LedgerFixture, 'owner'>,
  accountId: string,
): Promise<Speaker> {
  const userId = newId();
  const email = `${userId}@example.com`;
  await owner.query('INSERT INTO users (id, account_id, email, password_hash) VALUES ($1, $2, $3, $4)', [
    userId,
    accountId,
    email,
    'none',
  ]);
  const actor: Actor = { userId, accountId, email, sessionId: newId(), roles: ['user'] };
  return { actor, requestId: newId(), side: 'customer' };
}

export function speakingFor(actor: Actor): Speaker {
  return { actor, requestId: newId(), side: 'staff' };
}
