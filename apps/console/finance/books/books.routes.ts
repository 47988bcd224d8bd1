import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { cursor, anyDay, oneOf, searchOf, anyText } from '../../ui/search.js';
import { financeArea } from '../finance.area.js';

const books = createRoute({
  getParentRoute: () => financeArea,
  path: '/books',
  component: lazyRouteComponent(() => import('./books.page.js'), 'BooksPage'),
});

const control = createRoute({
  getParentRoute: () => financeArea,
  path: '/controls/$controlId',
  validateSearch: searchOf({
    state: oneOf('resolved', 'all'),
    cursor,
    /** The finding that is open. */
    finding: anyText,
  }),
  component: lazyRouteComponent(() => import('./control.page.js'), 'ControlPage'),
});

const transaction = createRoute({
  getParentRoute: () => financeArea,
  path: '/transactions/$transactionId',
  component: lazyRouteComponent(() => import('./transaction.page.js'), 'TransactionPage'),
});

const trialBalance = createRoute({
  getParentRoute: () => financeArea,
  path: '/trial-balance',
  validateSearch: searchOf({
    by: oneOf('effective'),
    day: anyDay,
    customers: oneOf('yes'),
    zero: oneOf('yes'),
  }),
  component: lazyRouteComponent(() => import('./trial-balance.page.js'), 'TrialBalancePage'),
});

const ledgerAccounts = createRoute({
  getParentRoute: () => financeArea,
  path: '/ledger-accounts',
  validateSearch: searchOf({ code: anyText, cursor }),
  component: lazyRouteComponent(() => import('./ledger-accounts.page.js'), 'LedgerAccountsPage'),
});

const ledgerAccount = createRoute({
  getParentRoute: () => financeArea,
  path: '/ledger-accounts/$ledgerAccountId',
  validateSearch: searchOf({ by: oneOf('effective'), from: anyDay, to: anyDay, cursor }),
  component: lazyRouteComponent(() => import('./ledger-account.page.js'), 'LedgerAccountPage'),
});

export const bookPages = [books, control, transaction, trialBalance, ledgerAccounts, ledgerAccount] as const;
