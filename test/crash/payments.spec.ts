import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { createCustomer } from '#people/accounts/customers.js';
import { readEmbeddedConnection } from '#database/embedded-postgres.js';
import { VENDORA_MAIN } from '#groups/group.js';
import type { Role } from '#identity/role.js';
import { readBalance } from '#ledger/postings/customer-account.js';
import { checkLedger } from '#ledger/checks/ledger-check.js';
import { formatAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { type Person, person } from '../support/console.js';
import { openPatientPool } from '../support/database.js';
import { until } from '../support/eventually.js';
import type { LedgerFixture } from '../support/ledger.js';
import {
  ensureBuilt,
  type Environment,
  killLaunched,
  type StandaloneProcess,
  startStandalone,
} from '../support/programs.js';
import { StripeStandIn } from '../support/stripe.js';

describe('billing that is killed', () => {
  let dataDir: string;
  let relay: StandaloneProcess;
  let billing: pg.Pool;
  let stripe: StripeStandIn;
  let accountId: string;

  beforeAll(() => ensureBuilt());
  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'tollgate-payments-'));
    stripe = await StripeStandIn.start();
  });
  afterEach(async () => {
    await billing.end();
    await relay.end('SIGTERM');
    await stripe.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  afterAll(() => killLaunched());

  async function start(more: Environment = {}): Promise<void> {
    // Here only events report payments; the provider is not asked.
    const quick = {
      SWEEP_INTERVAL_SECONDS: '0.2',
      PAYMENT_RETRY_SECONDS: '0.2',
      PAYMENT_CHECK_SECONDS: '3600',
    };
    relay = await startStandalone({ DATA_DIR: dataDir, ...quick, ...stripe.environment, ...more });
    const url = readEmbeddedConnection(join(dataDir, 'database'))!.urlFor('billing');
    billing = openPatientPool({ url, max: 2, applicationName: 'test-billing' });
  }

  async function startAgain(): Promise<void> {
    expect(await relay.gone).toBe('SIGKILL');
    await billing.end();
    await start();
  }

  function signIn(options: { accountId: string; roles?: readonly Role[] }): Promise<Person> {
    const fixture = { billing } as LedgerFixture;
    return person({ consoleUrl: relay.consoleUrl, fixture }, options);
  }

  async function customer(): Promise<Person> {
    accountId = (await createCustomer(billing, { name: 'Buyer', group: VENDORA_MAIN })).accountId;
    return signIn({ accountId });
  }

  async function order(buyer: Person): Promise<string> {
    const body = { credits: '10', provider: 'stripe', requestId: newId() } as const;
    return (await buyer.api.POST('/api/topups', { body })).data!.id;
  }

  async function main(): Promise<string> {
    return formatAmount((await readBalance(billing, accountId))!.main);
  }

  it('between the credit and its acknowledgement has credited, and ignores the repeated event', async () => {
    await start({ CRASH_AT: 'payment.committed' });
    const { event } = stripe.pay(await order(await customer()));
    await expect(stripe.deliver(relay.consoleUrl, event)).rejects.toThrow();
    await startAgain();
    expect(await main()).toBe('10');
    expect((await stripe.deliver(relay.consoleUrl, event)).status).toBe(200);
    expect(await main()).toBe('10');
    expect((await checkLedger(billing, { graceMs: 0 })).violations).toEqual([]);
  });

  it("between a provider's answer to a refund and its end continues with the same refund", async () => {
    await start({ CRASH_AT: 'refund.answered' });
    const orderId = await order(await customer());
    await stripe.deliver(relay.consoleUrl, stripe.pay(orderId).event);
    const { rows } = await billing.query<{ id: string }>('SELECT id FROM topups WHERE order_id = $1', [
      orderId,
    ]);
    const { accountId: own } = await createCustomer(billing, { name: 'Finance', group: VENDORA_MAIN });
    const finance = await signIn({ accountId: own, roles: ['finance'] });
    const refund = finance.api.POST('/api/finance/topups/{topupId}/refunds', {
      params: { path: { topupId: rows[0]!.id } },
      body: { reason: 'asked for', requestId: 'once' },
    });
    await expect(refund).rejects.toThrow();
    await startAgain();
    const balance = await readBalance(billing, accountId);
    // It is pending, unless it has ended already: a program that has just started continues it at once.
    expect([
      [0n, 10_000_000_000n],
      [0n, 0n],
    ]).toContainEqual([balance!.main, balance!.refundPending]);
    await until(
      'the refund to end',
      async () => (await readBalance(billing, accountId))!.refundPending === 0n,
    );
    expect(await main()).toBe('0');
    expect(stripe.refunds.size).toBe(1);
    expect((await checkLedger(billing, { graceMs: 0 })).violations).toEqual([]);
  });
});
