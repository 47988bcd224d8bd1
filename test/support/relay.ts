import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import OpenAI from 'openai';
import { pino } from 'pino';
import { startRelay as compose } from '#apps/standalone/composition.js';
import { readBalance } from '#ledger/postings/customer-account.js';
import { formatAmount } from '#money/amount.js';
import type { Logger } from '#platform/logging.js';
import type { Registry } from '#platform/metrics.js';
import { logFields } from '#platform/tracing.js';
import { UNHURRIED } from './durations.js';
import { createLedgerFixture, type LedgerFixture, requireCleanLedger } from './ledger.js';
import { UNTHROTTLED } from './unthrottled.js';

export { until } from './eventually.js';

/** Signs links. */
export const URL_SIGNING_SECRET = 'a secret of the tests, long enough to sign';

/** Short enough that journeys wait for a condition, not for a clock; long enough that idle loops leave them the processor. */
const QUICK: Record<string, string> = {
  URL_SIGNING_SECRET,
  SECRETS_KEY: 'YSBrZXkgb2YgdGhlIHRlc3RzLCBvZiAzMiBieXRlcyE=',
  POLL_INTERVAL_SECONDS: '0.4',
  POLL_MAX_SECONDS: '0.4',
  SWEEP_INTERVAL_SECONDS: '1',
  SHUTDOWN_GRACE_SECONDS: '5',
  // Tests of faults follow each other, and none of them may open the circuit for the next.
  CHANNEL_FAILURES_TO_OPEN: '1000',
  ...UNHURRIED,
  ...UNTHROTTLED,
  INVITE_REWARD_WINDOW_SECONDS: '0',
};

/** A whole relay in this process: gateway, billing, worker and sandbox, with its own database. */
export interface Relay {
  baseUrl: string;
  /** The control plane. */
  consoleUrl: string;
  /** Sent mail, one file each. */
  mailDir: string;
  /** The upstream of every channel. */
  sandboxUrl: string;
  fixture: LedgerFixture;
  registry: Registry;
  /** Everything that the programs logged, unchanged. */
  logged(): string;
  customer(credits: string, group?: string): Promise<Customer>;
  close(): Promise<void>;
}

/** An account with a key, and its owner's clients. */
export interface Customer {
  accountId: string;
  keyId: string;
  apiKey: string;
  /** The unmodified SDK. `retries` is 0 except in tests of retrying. */
  sdk(options?: { path?: string; retries?: number; fetch?: typeof fetch }): OpenAI;
  /** Sends a raw request with the key. */
  send(path: string, init?: RequestInit): Promise<Response>;
  /** Main and held balance in USD. */
  balance(): Promise<{ main: string; held: string }>;
}

/** @param settings override the test settings; a function receives the database's URL */
export async function startRelay(
  settings: Record<string, string> | ((fixture: LedgerFixture) => Record<string, string>) = {},
): Promise<Relay> {
  const fixture = await createLedgerFixture();
  const environment = typeof settings === 'function' ? settings(fixture) : settings;
  const { log, logged } = listeningLogger();
  const storageDir = await mkdtemp(join(tmpdir(), 'tollgate-relay-'));
  const running = await compose({
    databaseUrls: {
      gateway: fixture.urlFor('gateway'),
      worker: fixture.urlFor('worker'),
      billing: fixture.urlFor('billing'),
    },
    storageDir,
    env: { ...QUICK, MAIL_DIR: join(storageDir, '.mail'), ...environment },
    sandbox: { imageSeconds: 0, videoSeconds: 0.3, slowSeconds: 0.5 },
    log,
  });
  const { baseUrl } = running;
  return {
    baseUrl,
    consoleUrl: running.consoleUrl,
    mailDir: environment['MAIL_DIR'] ?? join(storageDir, '.mail'),
    sandboxUrl: running.sandboxUrl ?? '',
    fixture,
    registry: running.registry,
    logged,
    customer: async (credits, group) =>
      customerOf(fixture, baseUrl, await fixture.account({ credits, group })),
    close: async () => {
      await running.close();
      await fixture.close();
      await rm(storageDir, { recursive: true, force: true });
    },
  };
}

function customerOf(
  fixture: LedgerFixture,
  baseUrl: string,
  account: { accountId: string; keyId: string; apiKey: string },
): Customer {
  const { accountId, apiKey } = account;
  return {
    ...account,
    sdk: ({ path = '/v1', retries = 0, fetch } = {}) =>
      new OpenAI({ apiKey, baseURL: baseUrl + path, maxRetries: retries, ...(fetch ? { fetch } : {}) }),
    send: (path, init = {}) =>
      fetch(baseUrl + path, {
        ...init,
        headers: {
          authorization: `Bearer ${apiKey}`,
          ...(init.headers as Record<string, string> | undefined),
        },
      }),
    balance: async () => {
      const balance = await readBalance(fixture.billing, accountId);
      if (!balance) throw new Error('the account has no balance');
      return { main: formatAmount(balance.main), held: formatAmount(balance.held) };
    },
  };
}

/** A request with a JSON body. */
export function json(body: unknown, headers: Record<string, string> = {}): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}

/** @throws Error with the violated ledger invariants */
export async function expectCleanLedger(relay: Relay): Promise<void> {
  await requireCleanLedger(relay.fixture);
}

/** Closes the relay if it started, and expects a clean ledger. */
export async function closeClean(relay: Relay | undefined): Promise<void> {
  if (relay) await expectCleanLedger(relay).finally(() => relay.close());
}

function listeningLogger(): { log: Logger; logged: () => string } {
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  return { log: pino({ level: 'trace', mixin: logFields }, sink), logged: () => lines.join('') };
}
