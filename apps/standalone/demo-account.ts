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
  /** Kept beside the data, since the database knows its hash only and every start shows it. */
  readonly apiKey: string;
}

/** Credits that the demo account starts with; at 1.3 it costs 13.00. */
const DEMO_CREDITS = '10';

/**
 * The demo account, made on the first start with a key whose balance comes from a recorded top-up of the sandbox
 * provider. Each step can be repeated, so a start that was killed in between is completed by the next one.
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

/** The saved account, unless it belongs to a database that is no longer there. */
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
