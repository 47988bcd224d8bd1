import type pg from 'pg';

/** Makes sure that the ledger accounts of what channels bill us are there. */
export async function openUpcAccounts(client: pg.ClientBase, channels: readonly string[]): Promise<void> {
  // Looked at first, since an insertion that is left out spends an id all the same.
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
