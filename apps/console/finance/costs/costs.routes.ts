import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { textsOf } from '../../shell/access.js';
import { cursor, anyDay, oneOf, searchOf, anyText } from '../../ui/search.js';
import { financeArea } from '../finance.area.js';

const costs = createRoute({
  getParentRoute: () => financeArea,
  path: '/costs',
  loader: textsOf('costs'),
  validateSearch: searchOf({
    tab: oneOf('bills'),
    channel: anyText,
    model: anyText,
    all: oneOf('yes'),
    cursor,
  }),
  component: lazyRouteComponent(() => import('./costs.page.js'), 'CostsPage'),
});

const exports = createRoute({
  getParentRoute: () => financeArea,
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
  component: lazyRouteComponent(() => import('../exports/exports.page.js'), 'ExportsPage'),
});

export const costPages = [costs, exports] as const;
