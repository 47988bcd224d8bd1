import type pg from 'pg';
import { configureSandboxChannel, seedCatalog } from '#catalog/catalog.seed.js';
import type { DatabaseRole } from '#database/roles.js';
import { hashApiKey, newApiKey, newId } from '#platform/ids.js';
import { createLogger, type Logger } from '#platform/logging.js';
import { checkLedger } from '#ledger/checks/ledger-check.js';
import { openCustomerAccount } from '#ledger/postings/customer-account.js';
import { parseAmount } from '#money/amount.js';
import { priceCredits } from '#topup/conversion.js';
import { createTestDatabase, openPatientPool } from './database.js';
import { recordTopup } from './topups.js';

/** A migrated database with the seeded catalog, and helpers to add customers. */
export interface LedgerFixture {
  owner: pg.Pool;
  billing: pg.Pool;
  log: Logger;
  urlFor(role: DatabaseRole): string;
  account(options: {
    credits: string;
    group?: string;
  }): Promise<{ accountId: string; keyId: string; apiKey: string }>;
  key(accountId: string, group?: string): Promise<string>;
  revoke(keyId: string): Promise<void>;
  close(): Promise<void>;
}

export async function createLedgerFixture(): Promise<LedgerFixture> {
  const database = await createTestDatabase();
  const owner = openPatientPool({ url: database.ownerUrl, max: 4, applicationName: 'test-owner' });
  const billing = openPatientPool({
    url: database.urlFor('billing'),
    max: 8,
    applicationName: 'test-billing',
  });
  await seedCatalog(owner);
  await configureSandboxChannel(owner, { baseUrl: 'http://127.0.0.1:9', apiKey: 'sandbox-key' });
  return {
    owner,
    billing,
    log: createLogger('test', 'silent'),
    urlFor: (role) => database.urlFor(role),
    account: (options) => createAccount(billing, options),
    key: async (accountId, group) => (await createKey(billing, accountId, group)).keyId,
    revoke: async (keyId) =>
      void (await billing.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [keyId])),
    close: async () => {
      await Promise.all([owner.end(), billing.end()]);
      await database.drop();
    },
  };
}

/** @throws Error with the violated ledger invariants */
export async function requireCleanLedger({ billing }: Pick<LedgerFixture, 'billing'>): Promise<void> {
  const { ok, violations } = await checkLedger(billing, { graceMs: 60_000 });
  if (!ok) throw new Error(`the ledger is not clean: ${JSON.stringify(violations)}`);
}

async function createAccount(
  billing: pg.Pool,
  options: { credits: string; group?: string },
): Promise<{ accountId: string; keyId: string; apiKey: string }> {
  const accountId = newId();
  await billing.query('INSERT INTO accounts (id, name) VALUES ($1, $1)', [accountId]);
  const client = await billing.connect();
  try {
    await openCustomerAccount(client, accountId);
  } finally {
    client.release();
  }
  const credits = parseAmount(options.credits);
  if (credits > 0n) {
    await recordTopup(billing, {
      accountId,
      provider: 'manual',
      paymentId: `opening-${accountId}`,
      ...priceCredits(credits, '1.3'),
      rate: '1.3',
      currency: 'USD',
    });
  }
  return { accountId, ...(await createKey(billing, accountId, options.group)) };
}

async function createKey(
  billing: pg.Pool,
  accountId: string,
  group = 'Vendora-Main',
): Promise<{ keyId: string; apiKey: string }> {
  const keyId = newId();
  const apiKey = newApiKey();
  await billing.query(
    'INSERT INTO api_keys (id, account_id, name, key_hash, group_name) VALUES ($1, $2, $3, $4, $5)',
    [keyId, accountId, 'test', hashApiKey(apiKey), group],
  );
  return { keyId, apiKey };
}
