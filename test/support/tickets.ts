import { newId } from '#platform/ids.js';
import type { LedgerFixture } from './ledger.js';

/** A person from an account, with an open ticket for refunds. */
export async function ticketOf(
  fixture: Pick<LedgerFixture, 'owner'>,
  accountId: string,
): Promise<{ userId: string; ticketId: string }> {
  const [userId, ticketId] = [newId(), newId()];
  await fixture.owner.query(
    `INSERT INTO users (id, account_id, email, password_hash) VALUES ($1, $2, $3, 'none')`,
    [userId, accountId, `${userId}@example.com`],
  );
  await fixture.owner.query(
    `INSERT INTO tickets (id, account_id, opened_by, kind, subject) VALUES ($1, $2, $3, 'refund', 'Back')`,
    [ticketId, accountId, userId],
  );
  return { userId, ticketId };
}
