import { newId } from '#platform/ids.js';
import type { Person } from '../support/console.js';
import { runControls } from '../support/controls.js';
import { type Relay, until } from '../support/relay.js';
import { caughtUp, importReport, shopper, yesterday } from './support/books.js';
import type { Tab } from './support/browser.js';
import { describePages } from './support/pages.js';

let accountId = '';

/**
 * A payment that only the provider knows, an adjustment and a failure: every page of the books has something to show.
 */
async function books(relay: Relay, viewer: Person | undefined): Promise<void> {
  const { api } = viewer!;
  const shopped = await shopper(relay);
  accountId = shopped.accountId;
  const asked = { accountId, ticketId: shopped.ticketId, amount: '0.5', reason: 'goodwill' } as const;
  await api.POST('/api/finance/adjustments', {
    body: { ...asked, note: 'They waited for long.', requestId: newId() },
  });
  await importReport(viewer!, [
    { lineId: 'txn_lost', paymentId: 'pi_lost', amount: '13.00', fee: '0.68' },
    { lineId: 'txn_odd', paymentId: 'pi_odd', amount: '26.00', fee: '1.05' },
  ]);
  const path = '/api/finance/provider-lines/{provider}/{lineId}/book';
  const params = { path: { provider: 'stripe', lineId: 'txn_odd' } } as const;
  await api.POST(path, { params, body: { note: 'The event was lost.' } });
  await caughtUp(relay);
  await until('the controls to find what is missing', async () => {
    await runControls(viewer!);
    return findingOf(viewer!);
  });
}

async function findingOf({ api }: Person): Promise<string | undefined> {
  const params = { path: { controlId: 'payments' } };
  const { data } = await api.GET('/api/finance/controls/{controlId}/findings', { params });
  return data?.items[0]?.id;
}

async function findingPath(_relay: Relay, viewer: Person | undefined): Promise<string> {
  return `/finance/controls/payments?finding=${await findingOf(viewer!)}`;
}

async function transactionPath(relay: Relay): Promise<string> {
  const { rows } = await relay.fixture.billing.query<{ id: string }>(
    `SELECT id::text FROM ledger_transactions WHERE kind = 'settle' AND account_id = $1 ORDER BY id LIMIT 1`,
    [accountId],
  );
  return `/finance/transactions/${rows[0]!.id}`;
}

async function ledgerAccountPath(relay: Relay): Promise<string> {
  const { rows } = await relay.fixture.billing.query<{ id: string }>(
    'SELECT id::text FROM ledger_accounts WHERE code = $1',
    [`customer:${accountId}:main`],
  );
  return `/finance/ledger-accounts/${rows[0]!.id}`;
}

async function chargePath(relay: Relay): Promise<string> {
  const { rows } = await relay.fixture.billing.query<{ id: string }>(
    `SELECT id FROM charges WHERE account_id = $1 AND state = 'settled' ORDER BY id LIMIT 1`,
    [accountId],
  );
  return `/finance/charges/${rows[0]!.id}`;
}

/** Books that are closed through yesterday, when nothing had happened yet. */
async function periodPath(_relay: Relay, viewer: Person | undefined): Promise<string> {
  const body = { end: `${yesterday()}T00:00:00Z`, requestId: newId() };
  const { data } = await viewer!.api.POST('/api/finance/periods/close', { body });
  return `/finance/periods/${data!.id}`;
}

/** Opens what is hidden behind a button, in either language. */
function press(name: RegExp, shown: RegExp) {
  return async ({ page }: Tab) => {
    await page.getByRole('button', { name }).click();
    await page.getByText(shown).first().waitFor();
  };
}

describePages({
  area: 'finance',
  as: ['finance'],
  environment: {
    SANDBOX_PAYMENTS: 'true',
    RECONCILE_GRACE_SECONDS: '0',
    COST_ACCRUAL_SECONDS: '0.2',
    RECOGNITION_SECONDS: '0.2',
    CHAIN_SEAL_SECONDS: '0.2',
    PERIOD_MARGIN_SECONDS: '0.01',
  },
  pages: [
    { name: 'books', path: '/finance/books', prepare: books },
    { name: 'finance-home', path: '/finance' },
    {
      name: 'finding',
      path: '/finance/controls/payments',
      prepare: findingPath,
      open: ({ page }) =>
        page
          .getByRole('dialog')
          .getByText(/^(Finding details|详细信息)$/)
          .waitFor(),
    },
    { name: 'transaction', path: '/finance/transactions/1', prepare: transactionPath },
    { name: 'trial-balance', path: '/finance/trial-balance' },
    { name: 'ledger-accounts', path: '/finance/ledger-accounts' },
    { name: 'ledger-account', path: '/finance/ledger-accounts/1', prepare: ledgerAccountPath },
    { name: 'reconciliation', path: '/finance/reconciliation' },
    { name: 'payouts', path: '/finance/reconciliation?tab=payouts' },
    { name: 'bank', path: '/finance/reconciliation?tab=bank' },
    { name: 'imports', path: '/finance/reconciliation?tab=imports' },
    { name: 'payments', path: '/finance/payments' },
    { name: 'suspense', path: '/finance/payments?tab=suspense' },
    { name: 'refunds', path: '/finance/payments?tab=refunds' },
    { name: 'disputes', path: '/finance/payments?tab=disputes' },
    { name: 'payment-events', path: '/finance/payments?tab=events' },
    { name: 'adjustments', path: '/finance/adjustments' },
    { name: 'write-offs', path: '/finance/adjustments?tab=write-offs' },
    { name: 'debts', path: '/finance/adjustments?tab=debts' },
    { name: 'revenue', path: '/finance/revenue' },
    { name: 'revenue-margin', path: '/finance/revenue?show=margin' },
    { name: 'price-changes', path: '/finance/price-changes' },
    { name: 'deferred-revenue', path: '/finance/deferred-revenue' },
    { name: 'lots', path: '/finance/deferred-revenue/lots' },
    { name: 'holds', path: '/finance/work' },
    { name: 'charges', path: '/finance/work?tab=charges' },
    { name: 'failures', path: '/finance/work?tab=failures' },
    { name: 'promotion', path: '/finance/work?tab=promotion' },
    { name: 'charge', path: '/finance/charges/x', prepare: chargePath },
    { name: 'costs', path: '/finance/costs' },
    { name: 'bills', path: '/finance/costs?tab=bills' },
    { name: 'exports', path: '/finance/exports' },
    {
      name: 'close',
      path: `/finance/periods/close?end=${new Date().toISOString().slice(0, 10)}`,
      open: press(/^(Run the checklist|运行检查清单)$/, /^(Run it again|重新运行)$/),
    },
    { name: 'period', path: '/finance/periods/1', prepare: periodPath },
    { name: 'periods', path: '/finance/periods' },
  ],
});
