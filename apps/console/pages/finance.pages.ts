import { createRoute, lazyRouteComponent as lazy } from '@tanstack/react-router';
import { reasonsToAdjust, reportProviders } from '../api/enumerations.js';
import { onlyFor, textsOf } from '../shell/access.js';
import { anyDay, anyId, anyText, cursor, oneOf, searchOf } from '../ui/search.js';
import { rootRoute } from './root.route.js';

/** What charts of revenue show, other than net credits. */
const shownRevenue = oneOf('charges', 'failedCharges', 'refunds', 'recognised', 'cost', 'margin');

/** The desk of those who keep the books. */
const finance = createRoute({
  getParentRoute: () => rootRoute,
  path: '/finance',
  beforeLoad: onlyFor('finance'),
  loader: textsOf('finance', 'findings'),
});

const ofFinance = [
  createRoute({
    getParentRoute: () => finance,
    path: '/',
    loader: textsOf('reports', 'charts'),
    validateSearch: searchOf({
      /** The last 30 days when left out. */
      from: anyDay,
      to: anyDay,
      /** Recognized money when left out. */
      show: oneOf('net', 'charges', 'failedCharges', 'refunds', 'cost', 'margin', 'recognised'),
      /** By type when left out. */
      by: oneOf('model', 'group', 'channel', 'family'),
    }),
    component: lazy(() => import('../finance/home/home.page.js'), 'FinanceHomePage'),
  }),
  createRoute({
    getParentRoute: () => finance,
    path: '/books',
    component: lazy(() => import('../finance/books/books.page.js'), 'BooksPage'),
  }),
  createRoute({
    getParentRoute: () => finance,
    path: '/reconciliation',
    loader: textsOf('reconciliation'),
    validateSearch: searchOf({
      tab: oneOf('payouts', 'bank', 'imports'),
      provider: oneOf(...reportProviders),
      /** Of whatever the part lists. */
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
    getParentRoute: () => finance,
    path: '/payments',
    loader: textsOf('payments'),
    validateSearch: searchOf({
      tab: oneOf('suspense', 'refunds', 'disputes', 'events'),
      accountId: anyId,
      /** Of whatever the part lists. */
      state: anyText,
      cursor,
    }),
    component: lazy(() => import('../finance/payments/payments.page.js'), 'PaymentsPage'),
  }),
  createRoute({
    getParentRoute: () => finance,
    path: '/adjustments',
    loader: textsOf('desk'),
    validateSearch: searchOf({
      tab: oneOf('write-offs', 'debts'),
      accountId: anyId,
      reason: oneOf(...reasonsToAdjust),
      from: anyDay,
      to: anyDay,
      cursor,
    }),
    component: lazy(() => import('../finance/desk/adjustments.page.js'), 'AdjustmentsPage'),
  }),
  createRoute({
    getParentRoute: () => finance,
    path: '/revenue',
    loader: textsOf('reports', 'charts'),
    validateSearch: searchOf({
      from: anyDay,
      to: anyDay,
      /** Net credits when left out. */
      show: shownRevenue,
      by: oneOf('family', 'group', 'channel', 'account', 'day'),
      /** One value of a dimension that was opened, as `model:{id}`. */
      within: anyText,
    }),
    component: lazy(() => import('../finance/reports/revenue.page.js'), 'RevenuePage'),
  }),
  createRoute({
    getParentRoute: () => finance,
    path: '/deferred-revenue',
    loader: textsOf('reports', 'charts'),
    validateSearch: searchOf({ from: anyDay, to: anyDay }),
    component: lazy(() => import('../finance/reports/deferred.page.js'), 'DeferredPage'),
  }),
  createRoute({
    getParentRoute: () => finance,
    path: '/deferred-revenue/lots',
    loader: textsOf('reports'),
    validateSearch: searchOf({ to: anyDay, accountId: anyId, all: oneOf('yes'), cursor }),
    component: lazy(() => import('../finance/reports/lots.page.js'), 'LotsPage'),
  }),
  createRoute({
    getParentRoute: () => finance,
    path: '/work',
    loader: textsOf('reports'),
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
    getParentRoute: () => finance,
    path: '/costs',
    loader: textsOf('costs'),
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
    getParentRoute: () => finance,
    path: '/trial-balance',
    validateSearch: searchOf({
      by: oneOf('effective'),
      day: anyDay,
      customers: oneOf('yes'),
      zero: oneOf('yes'),
    }),
    component: lazy(() => import('../finance/books/trial-balance.page.js'), 'TrialBalancePage'),
  }),
  createRoute({
    getParentRoute: () => finance,
    path: '/ledger-accounts',
    validateSearch: searchOf({ code: anyText, cursor }),
    component: lazy(() => import('../finance/books/ledger-accounts.page.js'), 'LedgerAccountsPage'),
  }),
  createRoute({
    getParentRoute: () => finance,
    path: '/ledger-accounts/$ledgerAccountId',
    validateSearch: searchOf({ by: oneOf('effective'), from: anyDay, to: anyDay, cursor }),
    component: lazy(() => import('../finance/books/ledger-account.page.js'), 'LedgerAccountPage'),
  }),
  createRoute({
    getParentRoute: () => finance,
    path: '/periods',
    loader: textsOf('periods'),
    validateSearch: searchOf({ state: oneOf('closing', 'closed', 'abandoned'), cursor }),
    component: lazy(() => import('../finance/periods/periods.page.js'), 'PeriodsPage'),
  }),
  createRoute({
    getParentRoute: () => finance,
    path: '/periods/close',
    loader: textsOf('periods', 'support'),
    validateSearch: searchOf({
      /** The first day that is outside. */
      end: anyDay,
    }),
    component: lazy(() => import('../finance/periods/close.page.js'), 'ClosePage'),
  }),
  createRoute({
    getParentRoute: () => finance,
    path: '/periods/$periodId',
    loader: textsOf('periods', 'support'),
    validateSearch: searchOf({ tab: oneOf('balances', 'late'), cursor }),
    component: lazy(() => import('../finance/periods/period.page.js'), 'PeriodPage'),
  }),
  createRoute({
    getParentRoute: () => finance,
    path: '/exports',
    loader: textsOf('costs'),
    validateSearch: searchOf({
      /** A ledger account, to export its transactions alone. */
      account: anyText,
      from: anyDay,
      to: anyDay,
      by: oneOf('effective'),
      /** A closed period, in place of days. */
      period: anyText,
    }),
    component: lazy(() => import('../finance/exports/exports.page.js'), 'ExportsPage'),
  }),
  createRoute({
    getParentRoute: () => finance,
    path: '/price-changes',
    loader: textsOf('reports'),
    validateSearch: searchOf({
      from: anyDay,
      to: anyDay,
      kind: oneOf('price', 'multiplier', 'rule'),
      subject: anyText,
    }),
    component: lazy(() => import('../finance/reports/price-changes.page.js'), 'PriceChangesPage'),
  }),
  createRoute({
    getParentRoute: () => finance,
    path: '/charges/$chargeId',
    loader: textsOf('reports'),
    component: lazy(() => import('../finance/reports/charge.page.js'), 'ChargePage'),
  }),
  createRoute({
    getParentRoute: () => finance,
    path: '/controls/$controlId',
    validateSearch: searchOf({
      state: oneOf('resolved', 'all'),
      cursor,
      /** The finding that is open. */
      finding: anyText,
    }),
    component: lazy(() => import('../finance/books/control.page.js'), 'ControlPage'),
  }),
  createRoute({
    getParentRoute: () => finance,
    path: '/transactions/$transactionId',
    component: lazy(() => import('../finance/books/transaction.page.js'), 'TransactionPage'),
  }),
] as const;
export const financePages = finance.addChildren(ofFinance);
