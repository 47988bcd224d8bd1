import type pg from 'pg';

/** Creates missing ledger accounts for what channels bill us. */
export async function openUpcAccounts(client: pg.ClientBase, channels: readonly string[]): Promise<void> {
  // Checked first, because a skipped insertion also uses up an ID.
  await client.query(
    `INSERT INTO ledger_accounts (code, commodity, kind)
     SELECT wanted.code, 'UPC', wanted.kind FROM unnest($1::text[]) AS channel (id)
     CROSS JOIN LATERAL (VALUES ('expense:upstream:' || channel.id, 'expense'),
       ('expense:upstream-failed:' || channel.id, 'expense'), ('accrued-upstream:' || channel.id, 'liability'),
       ('payable:' || channel.id, 'liability')) AS wanted (code, kind)
     WHERE NOT EXISTS (SELECT FROM ledger_accounts a WHERE a.code = wanted.code)
     ON CONFLICT (code) DO NOTHING`,
    [[...new Set(channels)]],
  );
}
