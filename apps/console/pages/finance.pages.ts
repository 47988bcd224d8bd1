import { createRoute, lazyRouteComponent as lazy } from '@tanstack/react-router';
import { reasonsToAdjust, reportProviders } from '../api/enumerations.js';
import { onlyFor, textsOf } from '../shell/access.js';
import { anyDay, anyId, anyText, cursor, oneOf, searchOf } from '../ui/search.js';
import { below, rootRoute } from './root.route.js';

/** What revenue charts can show, except the default. */
const shownRevenue = oneOf('charges', 'failedCharges', 'refunds', 'recognised', 'cost', 'margin');

/** The books. */
const finance = createRoute({
  getParentRoute: () => rootRoute,
  path: '/finance',
  beforeLoad: onlyFor('finance'),
  loader: textsOf('finance', 'findings'),
});

const ofFinance = [
  createRoute({
    ...below(finance, '/', 'reports', 'charts'),
    validateSearch: searchOf({
      /** The last 30 days by default. */
      from: anyDay,
      to: anyDay,
      /** Recognized money by default. */
      show: oneOf('net', 'charges', 'failedCharges', 'refunds', 'cost', 'margin', 'recognised'),
      /** By type by default. */
      by: oneOf('model', 'group', 'channel', 'family'),
    }),
    component: lazy(() => import('../finance/home/home.page.js'), 'FinanceHomePage'),
  }),
  createRoute({
    ...below(finance, '/books'),
    component: lazy(() => import('../finance/books/books.page.js'), 'BooksPage'),
  }),
  createRoute({
    ...below(finance, '/reconciliation', 'reconciliation'),
    validateSearch: searchOf({
      tab: oneOf('payouts', 'bank', 'imports'),
      provider: oneOf(...reportProviders),
      /** Depends on the tab. */
      state: anyText,
      from: anyDay,
      to: anyDay,
      cursor,
      /** The provider's line that is open, as `provider:id`. */
      line: anyText,
    }),
    component: lazy(() => import('../finance/reconciliation/reconciliation.page.js'), 'ReconciliationPage'),
  }),
  createRoute({
    ...below(finance, '/payments', 'payments'),
    validateSearch: searchOf({
      tab: oneOf('suspense', 'refunds', 'disputes', 'events'),
      accountId: anyId,
      /** Depends on the tab. */
      state: anyText,
      cursor,
    }),
    component: lazy(() => import('../finance/payments/payments.page.js'), 'PaymentsPage'),
  }),
  createRoute({
    ...below(finance, '/adjustments', 'adjustments'),
    validateSearch: searchOf({
      tab: oneOf('write-offs', 'debts'),
      accountId: anyId,
      reason: oneOf(...reasonsToAdjust),
      from: anyDay,
      to: anyDay,
      cursor,
    }),
    component: lazy(() => import('../finance/adjustments/adjustments.page.js'), 'AdjustmentsPage'),
  }),
  createRoute({
    ...below(finance, '/revenue', 'reports', 'charts'),
    validateSearch: searchOf({
      from: anyDay,
      to: anyDay,
      /** Net credits by default. */
      show: shownRevenue,
      by: oneOf('family', 'group', 'channel', 'account', 'day'),
      /** An opened value, such as `model:{id}`. */
      within: anyText,
    }),
    component: lazy(() => import('../finance/reports/revenue.page.js'), 'RevenuePage'),
  }),
  createRoute({
    ...below(finance, '/deferred-revenue', 'reports', 'charts'),
    validateSearch: searchOf({ from: anyDay, to: anyDay }),
    component: lazy(() => import('../finance/reports/deferred.page.js'), 'DeferredPage'),
  }),
  createRoute({
    ...below(finance, '/deferred-revenue/lots', 'reports'),
    validateSearch: searchOf({ to: anyDay, accountId: anyId, all: oneOf('yes'), cursor }),
    component: lazy(() => import('../finance/reports/lots.page.js'), 'LotsPage'),
  }),
  createRoute({
    ...below(finance, '/work', 'reports'),
    validateSearch: searchOf({
      tab: oneOf('charges', 'failures', 'promotion'),
      only: oneOf('yes'),
      state: anyText,
      from: anyDay,
      to: anyDay,
      cursor,
    }),
    component: lazy(() => import('../finance/reports/work.page.js'), 'WorkPage'),
  }),
  createRoute({
    ...below(finance, '/costs', 'costs'),
    validateSearch: searchOf({
      tab: oneOf('bills'),
      channel: anyText,
      model: anyText,
      all: oneOf('yes'),
      cursor,
    }),
    component: lazy(() => import('../finance/costs/costs.page.js'), 'CostsPage'),
  }),
  createRoute({
    ...below(finance, '/trial-balance'),
    validateSearch: searchOf({
      by: oneOf('effective'),
      day: anyDay,
      customers: oneOf('yes'),
      zero: oneOf('yes'),
    }),
    component: lazy(() => import('../finance/books/trial-balance.page.js'), 'TrialBalancePage'),
  }),
  createRoute({
    ...below(finance, '/ledger-accounts'),
    validateSearch: searchOf({ code: anyText, cursor }),
    component: lazy(() => import('../finance/books/ledger-accounts.page.js'), 'LedgerAccountsPage'),
  }),
  createRoute({
    ...below(finance, '/ledger-accounts/$ledgerAccountId'),
    validateSearch: searchOf({ by: oneOf('effective'), from: anyDay, to: anyDay, cursor }),
    component: lazy(() => import('../finance/books/ledger-account.page.js'), 'LedgerAccountPage'),
  }),
  createRoute({
    ...below(finance, '/periods', 'periods'),
    validateSearch: searchOf({ state: oneOf('closing', 'closed', 'abandoned'), cursor }),
    component: lazy(() => import('../finance/periods/periods.page.js'), 'PeriodsPage'),
  }),
  createRoute({
    ...below(finance, '/periods/close', 'periods', 'support'),
    validateSearch: searchOf({
      /** The first day after the period. */
      end: anyDay,
    }),
    component: lazy(() => import('../finance/periods/close.page.js'), 'ClosePage'),
  }),
  createRoute({
    ...below(finance, '/periods/$periodId', 'periods', 'support'),
    validateSearch: searchOf({ tab: oneOf('balances', 'late'), cursor }),
    component: lazy(() => import('../finance/periods/period.page.js'), 'PeriodPage'),
  }),
  createRoute({
    ...below(finance, '/exports', 'costs'),
    validateSearch: searchOf({
      /** Limits the export to one ledger account. */
      account: anyText,
      from: anyDay,
      to: anyDay,
      by: oneOf('effective'),
      /** A closed period instead of days. */
      period: anyText,
    }),
    component: lazy(() => import('../finance/exports/exports.page.js'), 'ExportsPage'),
  }),
  createRoute({
    ...below(finance, '/price-changes', 'reports'),
    validateSearch: searchOf({
      from: anyDay,
      to: anyDay,
      kind: oneOf('price', 'multiplier', 'rule'),
      subject: anyText,
    }),
    component: lazy(() => import('../finance/reports/price-changes.page.js'), 'PriceChangesPage'),
  }),
  createRoute({
    ...below(finance, '/charges/$chargeId', 'reports'),
    component: lazy(() => import('../finance/reports/charge.page.js'), 'ChargePage'),
  }),
  createRoute({
    ...below(finance, '/controls/$controlId'),
    validateSearch: searchOf({
      state: oneOf('resolved', 'all'),
      cursor,
      /** The finding that is open. */
      finding: anyText,
    }),
    component: lazy(() => import('../finance/books/control.page.js'), 'ControlPage'),
  }),
  createRoute({
    ...below(finance, '/transactions/$transactionId'),
    component: lazy(() => import('../finance/books/transaction.page.js'), 'TransactionPage'),
  }),
] as const;
export const financePages = finance.addChildren(ofFinance);
