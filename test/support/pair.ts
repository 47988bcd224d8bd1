import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningRelay, startRelay } from '#apps/standalone/composition.js';
import { readBalance } from '#ledger/postings/customer-account.js';
import { formatAmount } from '#money/amount.js';
import { UNHURRIED } from './durations.js';
import { createLedgerFixture, type LedgerFixture, requireCleanLedger } from './ledger.js';
import { UNTHROTTLED } from './unthrottled.js';

/** Short enough that tests wait for a condition, not for a clock. */
const QUICK: Record<string, string> = {
  ...UNHURRIED,
  ...UNTHROTTLED,
  URL_SIGNING_SECRET: 'a secret of the tests, long enough to sign',
  SECRETS_KEY: 'YSBrZXkgb2YgdGhlIHRlc3RzLCBvZiAzMiBieXRlcyE=',
  POLL_INTERVAL_SECONDS: '0.4',
  POLL_MAX_SECONDS: '0.4',
  SWEEP_INTERVAL_SECONDS: '1',
  SHUTDOWN_GRACE_SECONDS: '5',
  // Tests of faults follow each other, and none of them may open the circuit for the next.
  CHANNEL_FAILURES_TO_OPEN: '1000',
};

/** What the sandbox upstream has counted. */
export interface SandboxStats {
  imagesRequests: number;
  videoCreates: number;
  textsBegun: number;
  meshesAccepted: number;
  refusals: number;
}

/** Two relays with one gateway each, over one database, one files folder and one sandbox upstream. */
export interface Pair {
  fixture: LedgerFixture;
  storageDir: string;
  sandboxUrl: string;
  customer(credits: string, group?: string): Promise<PairCustomer>;
  stats(): Promise<SandboxStats>;
  close(): Promise<void>;
}

export interface PairCustomer {
  accountId: string;
  keyId: string;
  apiKey: string;
  /** Sends a request with the customer's key to the first or the second gateway. */
  send(gateway: 0 | 1, path: string, init?: RequestInit): Promise<Response>;
  /** USD. */
  balance(): Promise<{ main: string; held: string }>;
  /** The states of the customer's charges, sorted. */
  charges(): Promise<string[]>;
}

export async function startPair(environment: Record<string, string> = {}): Promise<Pair> {
  const fixture = await createLedgerFixture();
  const storageDir = await mkdtemp(join(tmpdir(), 'tollgate-pair-'));
  const databaseUrls = {
    gateway: fixture.urlFor('gateway'),
    worker: fixture.urlFor('worker'),
    billing: fixture.urlFor('billing'),
  };
  const shared = { databaseUrls, storageDir, env: { ...QUICK, ...environment }, log: fixture.log };
  const sandbox = { imageSeconds: 0, videoSeconds: 0.3 };
  const first = await startRelay({ ...shared, sandbox });
  const second = await startRelay({ ...shared, sandbox: false });
  const relays: [RunningRelay, RunningRelay] = [first, second];
  return {
    fixture,
    storageDir,
    sandboxUrl: first.sandboxUrl ?? '',
    customer: async (credits, group) =>
      customerOf(fixture, relays, await fixture.account({ credits, group })),
    stats: async () => (await (await fetch(`${first.sandboxUrl}/_sandbox/stats`)).json()) as SandboxStats,
    close: async () => {
      try {
        await requireCleanLedger(fixture);
      } finally {
        await second.close();
        await first.close();
        await fixture.close();
        await rm(storageDir, { recursive: true, force: true });
      }
    },
  };
}

function customerOf(
  fixture: LedgerFixture,
  relays: [RunningRelay, RunningRelay],
  account: { accountId: string; keyId: string; apiKey: string },
): PairCustomer {
  const { accountId, apiKey } = account;
  return {
    ...account,
    send: (gateway, path, init = {}) => {
      const headers = new Headers(init.headers);
      headers.set('authorization', `Bearer ${apiKey}`);
      return fetch(relays[gateway].baseUrl + path, { ...init, headers });
    },
    balance: async () => {
      const balance = await readBalance(fixture.billing, accountId);
      if (!balance) throw new Error('the account has no balance');
      return { main: formatAmount(balance.main), held: formatAmount(balance.held) };
    },
    charges: async () => {
      const { rows } = await fixture.billing.query<{ state: string }>(
        'SELECT state FROM charges WHERE account_id = $1 ORDER BY state',
        [accountId],
      );
      return rows.map(({ state }) => state);
    },
  };
}
