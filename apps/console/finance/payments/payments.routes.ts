import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { textsOf } from '../../shell/access.js';
import { cursor, searchOf, text, oneOf } from '../../ui/search.js';
import { financeArea } from '../finance.area.js';

const payments = createRoute({
  getParentRoute: () => financeArea,
  path: '/payments',
  loader: textsOf('payments'),
  validateSearch: searchOf({
    tab: oneOf('suspense', 'refunds', 'disputes', 'events'),
    accountId: text,
    /** Of whatever the part lists. */
    state: text,
    cursor,
  }),
  component: lazyRouteComponent(() => import('./payments.page.js'), 'PaymentsPage'),
});

export const paymentRoutes = [payments] as const;
