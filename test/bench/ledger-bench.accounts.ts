import type pg from 'pg';
import { openCustomerAccount } from '#ledger/postings/customer-account.js';
import { parseAmount } from '#money/amount.js';
import { hashApiKey, newApiKey, newId } from '#platform/ids.js';
import { inTransaction } from '#database/database.js';
import { priceCredits } from '#topup/conversion.js';
import { recordTopup } from '../support/topups.js';

export interface BenchAccount {
  accountId: string;
  keyId: string;
}

/** Customer accounts with more credits than a benchmark can spend. */
export async function openBenchAccounts(billing: pg.Pool, count: number): Promise<BenchAccount[]> {
  const accounts: BenchAccount[] = [];
  for (let index = 0; index < count; index += 1) {
    const account = { accountId: newId(), keyId: newId() };
    await inTransaction(billing, async (client) => {
      await client.query('INSERT INTO accounts (id, name) VALUES ($1, $2)', [account.accountId, 'bench']);
      await openCustomerAccount(client, account.accountId);
      await client.query(
        `INSERT INTO api_keys (id, account_id, name, key_hash, group_name) VALUES ($1, $2, 'bench', $3, 'Vendora-Main')`,
        [account.keyId, account.accountId, hashApiKey(newApiKey())],
      );
    });
    await recordTopup(billing, {
      accountId: account.accountId,
      provider: 'manual',
      paymentId: account.accountId,
      ...priceCredits(parseAmount('1000000'), '1.3'),
      rate: '1.3',
      currency: 'USD',
    });
    accounts.push(account);
  }
  return accounts;
}

/**
 * Gives the ledger a past: charges of other customers, with this many entries (four per charge). The owner writes them
 * in bulk, with the sums that the guard on entries requires.
 */
export async function growHistory(owner: pg.Pool, entries: number): Promise<void> {
  const perStep = 50_000;
  const charges = Math.ceil(entries / 4);
  for (let done = 0; done < charges; done += perStep) {
    const count = Math.min(perStep, charges - done);
    await inTransaction(owner, async (client) => {
      await client.query(
        `WITH block AS (SELECT setval('ledger_transaction_blocks', nextval('ledger_transaction_blocks') + $1 * 2 + 1000) - $1 * 2 - 1000 AS base),
         owners AS MATERIALIZED (SELECT row_number() OVER () - 1 AS place, count(*) OVER () AS places, b.* FROM customer_balances b),
         rows AS (SELECT n, b.base + n * 2 AS hold_id, b.base + n * 2 + 1 AS resolve_id, 'past' || lpad((n + $2)::text, 22, '0') AS charge_id,
             a.account_id, a.main_ledger_id, a.held_ledger_id
           FROM generate_series(1, $1::bigint) n CROSS JOIN block b
           JOIN owners a ON a.place = (n + $2) % a.places),
         past_charges AS (INSERT INTO charges (id, account_id, state, input_hash, key_id, family, model_id, requested_model, group_name,
             units, unit_price, multiplier, rule, amount, settled, released, delivered_units, resolved_at)
           SELECT charge_id, account_id, 'settled', decode(repeat('00', 32), 'hex'), 'k', 'image', 'imgmodel-4', 'imgmodel-4',
             'Vendora-Main', 1, 0.03, 1, 'list', 30000000, 30000000, 0, 1, now() FROM rows),
         past_transactions AS (INSERT INTO ledger_transactions (id, kind, reference, account_id, charge_id, effective_at)
           SELECT hold_id, 'hold', 'charge:' || charge_id || ':hold', account_id, charge_id, now() FROM rows
           UNION ALL SELECT resolve_id, 'settle', 'charge:' || charge_id || ':resolve', account_id, charge_id, now() FROM rows)
         INSERT INTO ledger_entries (transaction_id, ordinal, commodity, ledger_account_id, amount, balance_after)
         SELECT hold_id, 0, 'CRD', main_ledger_id, -30000000, 0 FROM rows
         UNION ALL SELECT hold_id, 1, 'CRD', held_ledger_id, 30000000, 0 FROM rows
         UNION ALL SELECT resolve_id, 0, 'CRD', held_ledger_id, -30000000, 0 FROM rows
         UNION ALL SELECT resolve_id, 1, 'CRD', (SELECT id FROM ledger_accounts WHERE code = 'usage:image'), 30000000, NULL FROM rows`,
        [count, done],
      );
    });
    process.stderr.write(`\rhistory: ${Math.min(done + count, charges) * 4} of ${entries} entries`);
  }
  await owner.query('VACUUM ANALYZE');
  process.stderr.write('\n');
}
