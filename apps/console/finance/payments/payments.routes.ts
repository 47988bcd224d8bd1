import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { textsOf } from '../../shell/access.js';
import { cursor, searchOf, anyText, oneOf } from '../../ui/search.js';
import { financeArea } from '../finance.area.js';

const payments = createRoute({
  getParentRoute: () => financeArea,
  path: '/payments',
  loader: textsOf('payments'),
  validateSearch: searchOf({
    tab: oneOf('suspense', 'refunds', 'disputes', 'events'),
    accountId: anyText,
    /** Of whatever the part lists. */
    state: anyText,
    cursor,
  }),
  component: lazyRouteComponent(() => import('./payments.page.js'), 'PaymentsPage'),
});

export const paymentPages = [payments] as const;
