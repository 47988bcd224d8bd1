import type pg from 'pg';
import { newId } from '#platform/ids.js';

export interface Customer {
  accountId: string;
  /** A key in the group that has all models. */
  keyId: string;
  /** A key in the group that has a fixed price per call. */
  cheapKeyId: string;
  userId: string;
  inviter: Customer | null;
}

/** Signs up many customers at once: accounts with their ledger accounts, a person, keys, and who invited them. */
export async function signUp(owner: pg.Pool, customers: readonly Customer[]): Promise<void> {
  const column = (of: (customer: Customer) => string): string[] => customers.map(of);
  await owner.query(
    `WITH new AS (SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS t (id, key_id, cheap_id, user_id)),
       accounts AS (INSERT INTO accounts (id, name) SELECT id, 'Customer ' || id FROM new),
       keys AS (INSERT INTO api_keys (id, account_id, name, key_hash, group_name)
         SELECT key_id, id, 'all', sha256(convert_to(key_id, 'UTF8')), 'Vendora-Main' FROM new
         UNION ALL SELECT cheap_id, id, 'cheap', sha256(convert_to(cheap_id, 'UTF8')), 'Public-Relay' FROM new),
       people AS (INSERT INTO users (id, account_id, email, password_hash)
         SELECT user_id, id, user_id || '@example.com', 'none' FROM new),
       opened AS (INSERT INTO ledger_accounts (code, commodity, kind, account_id)
         SELECT 'customer:' || id || ':' || purpose, 'CRD', 'liability', id
         FROM new, unnest(ARRAY['main', 'held', 'invite', 'refund-pending']) AS purpose RETURNING id, code, account_id)
     INSERT INTO customer_balances (account_id, main_ledger_id, held_ledger_id, invite_ledger_id, refund_pending_ledger_id)
     SELECT account_id, max(id) FILTER (WHERE code LIKE '%:main'), max(id) FILTER (WHERE code LIKE '%:held'),
       max(id) FILTER (WHERE code LIKE '%:invite'), max(id) FILTER (WHERE code LIKE '%:refund-pending')
     FROM opened GROUP BY account_id`,
    [
      column(({ accountId }) => accountId),
      column(({ keyId }) => keyId),
      column(({ cheapKeyId }) => cheapKeyId),
      column(({ userId }) => userId),
    ],
  );
  const invited = customers.filter(({ inviter }) => inviter !== null);
  await owner.query(
    `INSERT INTO invitations (invitee_account_id, inviter_account_id) SELECT * FROM unnest($1::text[], $2::text[])`,
    [invited.map(({ accountId }) => accountId), invited.map(({ inviter }) => inviter?.accountId)],
  );
}

export function newCustomer(inviter: Customer | null): Customer {
  return { accountId: newId(), keyId: newId(), cheapKeyId: newId(), userId: newId(), inviter };
}

/** Opens a customer's ticket, which refunds and adjustments refer to. */
export async function openTicket(owner: pg.Pool, { accountId, userId }: Customer): Promise<string> {
  const ticketId = newId();
  await owner.query(
    `INSERT INTO tickets (id, account_id, opened_by, kind, subject) VALUES ($1, $2, $3, 'refund', 'Back')`,
    [ticketId, accountId, userId],
  );
  return ticketId;
}
