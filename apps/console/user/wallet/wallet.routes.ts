import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { textsOf } from '../../shell/access.js';
import { cursor, oneOf, searchOf, anyText } from '../../ui/search.js';
import { userArea } from '../user.area.js';
import { statementSearch } from './statement-search.js';

const wallet = createRoute({
  getParentRoute: () => userArea,
  path: '/wallet',
  validateSearch: searchOf({
    tab: oneOf('statement', 'invites'),
    cursor,
    /** An amount to begin with, such as that of an order that was not paid. */
    credits: anyText,
    ...statementSearch,
    /** The request that is open. */
    charge: anyText,
  }),
  loader: textsOf('wallet', 'calls'),
  component: lazyRouteComponent(() => import('./wallet.page.js'), 'WalletPage'),
});

const order = createRoute({
  getParentRoute: () => userArea,
  path: '/topups/$orderId',
  // Stripe leads back here with a bare `?paid`.
  validateSearch: (given: Record<string, unknown>): { paid?: string } =>
    'paid' in given ? { paid: 'yes' } : {},
  loader: textsOf('wallet'),
  component: lazyRouteComponent(() => import('./order.page.js'), 'OrderPage'),
});

export const walletPages = [wallet, order] as const;
