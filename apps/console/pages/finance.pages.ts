import { createRoute } from '@tanstack/react-router';
import { reasonsToAdjust, reportProviders } from '../api/enumerations.js';
import { onlyFor, textsOf } from '../shell/access.js';
import { anyDay, anyId, anyText, cursor, oneOf } from '../ui/search.js';
import { below, page, rootRoute } from './root.route.js';

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
  page(below(finance, '/', 'reports', 'charts'), () => import('../finance/home/home.page.js'), {
    /** The last 30 days by default. */
    from: anyDay,
    to: anyDay,
    /** Recognized money by default. */
    show: oneOf('net', 'charges', 'failedCharges', 'refunds', 'cost', 'margin', 'recognised'),
    /** By type by default. */
    by: oneOf('model', 'group', 'channel', 'family'),
  }),
  page(below(finance, '/books'), () => import('../finance/books/books.page.js')),
  page(
    below(finance, '/reconciliation', 'reconciliation'),
    () => import('../finance/reconciliation/reconciliation.page.js'),
    {
      tab: oneOf('payouts', 'bank', 'imports'),
      provider: oneOf(...reportProviders),
      /** Depends on the tab. */
      state: anyText,
      from: anyDay,
      to: anyDay,
      cursor,
      /** The provider's line that is open, as `provider:id`. */
      line: anyText,
    },
  ),
  page(below(finance, '/payments', 'payments'), () => import('../finance/payments/payments.page.js'), {
    tab: oneOf('suspense', 'refunds', 'disputes', 'events'),
    accountId: anyId,
    /** Depends on the tab. */
    state: anyText,
    cursor,
  }),
  page(
    below(finance, '/adjustments', 'adjustments'),
    () => import('../finance/adjustments/adjustments.page.js'),
    {
      tab: oneOf('write-offs', 'debts'),
      accountId: anyId,
      reason: oneOf(...reasonsToAdjust),
      from: anyDay,
      to: anyDay,
      cursor,
    },
  ),
  page(below(finance, '/revenue', 'reports', 'charts'), () => import('../finance/reports/revenue.page.js'), {
    from: anyDay,
    to: anyDay,
    /** Net credits by default. */
    show: shownRevenue,
    by: oneOf('family', 'group', 'channel', 'account', 'day'),
    /** An opened value, such as `model:{id}`. */
    within: anyText,
  }),
  page(
    below(finance, '/deferred-revenue', 'reports', 'charts'),
    () => import('../finance/reports/deferred.page.js'),
    { from: anyDay, to: anyDay },
  ),
  page(below(finance, '/deferred-revenue/lots', 'reports'), () => import('../finance/reports/lots.page.js'), {
    to: anyDay,
    accountId: anyId,
    all: oneOf('yes'),
    cursor,
  }),
  page(below(finance, '/work', 'reports'), () => import('../finance/reports/work.page.js'), {
    tab: oneOf('charges', 'failures', 'promotion'),
    only: oneOf('yes'),
    state: anyText,
    from: anyDay,
    to: anyDay,
    cursor,
  }),
  page(below(finance, '/costs', 'costs'), () => import('../finance/costs/costs.page.js'), {
    tab: oneOf('bills'),
    channel: anyText,
    model: anyText,
    all: oneOf('yes'),
    cursor,
  }),
  page(below(finance, '/trial-balance'), () => import('../finance/books/trial-balance.page.js'), {
    by: oneOf('effective'),
    day: anyDay,
    customers: oneOf('yes'),
    zero: oneOf('yes'),
  }),
  page(below(finance, '/ledger-accounts'), () => import('../finance/books/ledger-accounts.page.js'), {
    code: anyText,
    cursor,
  }),
  page(
    below(finance, '/ledger-accounts/$ledgerAccountId'),
    () => import('../finance/books/ledger-account.page.js'),
    { by: oneOf('effective'), from: anyDay, to: anyDay, cursor },
  ),
  page(below(finance, '/periods', 'periods'), () => import('../finance/periods/periods.page.js'), {
    state: oneOf('closing', 'closed', 'abandoned'),
    cursor,
  }),
  page(
    below(finance, '/periods/close', 'periods', 'support'),
    () => import('../finance/periods/close.page.js'),
    {
      /** The first day after the period. */
      end: anyDay,
    },
  ),
  page(
    below(finance, '/periods/$periodId', 'periods', 'support'),
    () => import('../finance/periods/period.page.js'),
    { tab: oneOf('balances', 'late'), cursor },
  ),
  page(below(finance, '/exports', 'costs'), () => import('../finance/exports/exports.page.js'), {
    /** Limits the export to one ledger account. */
    account: anyText,
    from: anyDay,
    to: anyDay,
    by: oneOf('effective'),
    /** A closed period instead of days. */
    period: anyText,
  }),
  page(
    below(finance, '/price-changes', 'reports'),
    () => import('../finance/reports/price-changes.page.js'),
    {
      from: anyDay,
      to: anyDay,
      kind: oneOf('price', 'multiplier', 'rule'),
      subject: anyText,
    },
  ),
  page(below(finance, '/charges/$chargeId', 'reports'), () => import('../finance/reports/charge.page.js')),
  page(below(finance, '/controls/$controlId'), () => import('../finance/books/control.page.js'), {
    state: oneOf('resolved', 'all'),
    cursor,
    /** The finding that is open. */
    finding: anyText,
  }),
  page(below(finance, '/transactions/$transactionId'), () => import('../finance/books/transaction.page.js')),
] as const;
export const financePages = finance.addChildren(ofFinance);
