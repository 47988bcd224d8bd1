import type pg from 'pg';
import { createCustomer } from '#people/accounts/customers.js';
import { VENDORA_MAIN } from '#groups/group.js';
import { findAccount } from '#identity/account.store.js';
import { playTopup } from '#finance/provider-reports/sandbox-books.js';
import { parseAmount } from '#money/amount.js';
import { priceCredits, STANDARD_RATE } from '#topup/conversion.js';
import { type DataFolder, readPrivateJson, writePrivateJson } from '#operations/data-folder.js';

export interface DemoAccount {
  readonly accountId: string;
  /** Kept beside the data, because every start shows it and the database has only its hash. */
  readonly apiKey: string;
}

/** The credits that the demo account starts with; at 1.3, they cost 13.00. */
const DEMO_CREDITS = '10';

/**
 * The demo account with its key, created on the first start. Its balance comes from a recorded top-up through the sandbox
 * provider. Each step can be repeated, so the next start completes one that was killed.
 */
export async function ensureDemoAccount(pool: pg.Pool, folder: DataFolder): Promise<DemoAccount> {
  const account = (await savedAccount(pool, folder)) ?? (await newAccount(pool, folder));
  const { credits, paidMinor } = priceCredits(parseAmount(DEMO_CREDITS), STANDARD_RATE);
  await playTopup(pool, {
    accountId: account.accountId,
    paymentId: `demo-${account.accountId}`,
    credits,
    paidMinor,
    rate: STANDARD_RATE,
    currency: 'USD',
  });
  return account;
}

/** The saved account, unless its database no longer exists. */
async function savedAccount(pool: pg.Pool, folder: DataFolder): Promise<DemoAccount | undefined> {
  const saved = readPrivateJson<DemoAccount>(folder.demoFile);
  return saved && (await findAccount(pool, saved.accountId)) ? saved : undefined;
}

async function newAccount(pool: pg.Pool, folder: DataFolder): Promise<DemoAccount> {
  const { accountId, apiKey } = await createCustomer(pool, {
    name: 'Demo',
    group: VENDORA_MAIN,
    keyName: 'demo key',
  });
  writePrivateJson(folder.demoFile, { accountId, apiKey });
  return { accountId, apiKey };
}
