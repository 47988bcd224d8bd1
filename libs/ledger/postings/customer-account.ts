import type pg from 'pg';
import type { Nanos } from '#money/amount.js';

const PURPOSES = ['main', 'held', 'invite', 'refund-pending'] as const;

/** Creates the ledger accounts and the stored balances of a new customer account, inside the caller's transaction. */
export async function openCustomerAccount(client: pg.ClientBase, accountId: string): Promise<void> {
  const codes = PURPOSES.map((purpose) => `customer:${accountId}:${purpose}`);
  await client.query(
    `WITH opened AS (
       INSERT INTO ledger_accounts (code, commodity, kind, account_id)
       SELECT code, 'CRD', 'liability', $1 FROM unnest($2::text[]) AS code RETURNING id, code)
     INSERT INTO customer_balances (account_id, main_ledger_id, held_ledger_id, invite_ledger_id, refund_pending_ledger_id)
     SELECT $1, (SELECT id FROM opened WHERE code = $3), (SELECT id FROM opened WHERE code = $4),
       (SELECT id FROM opened WHERE code = $5), (SELECT id FROM opened WHERE code = $6)`,
    [accountId, codes, ...codes],
  );
}

export interface CustomerBalance {
  main: Nanos;
  held: Nanos;
  invite: Nanos;
  refundPending: Nanos;
  frozen: boolean;
}

/** The stored balances of an account in nanos, or null when there is no such account. */
export async function readBalance(
  database: pg.Pool | pg.ClientBase,
  accountId: string,
): Promise<CustomerBalance | null> {
  const { rows } = await database.query<CustomerBalance>(
    `SELECT main, held, invite, refund_pending AS "refundPending", frozen
     FROM customer_balances WHERE account_id = $1`,
    [accountId],
  );
  return rows[0] ?? null;
}
