import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { textsOf } from '../../shell/access.js';
import { cursor, anyDay, oneOf, searchOf, anyText } from '../../ui/search.js';
import { financeArea } from '../finance.area.js';

const revenue = createRoute({
  getParentRoute: () => financeArea,
  path: '/revenue',
  loader: textsOf('reports'),
  validateSearch: searchOf({
    from: anyDay,
    to: anyDay,
    by: oneOf('family', 'group', 'channel', 'account', 'day'),
    /** One value of a dimension that was opened, as `model:{id}`. */
    within: anyText,
  }),
  component: lazyRouteComponent(() => import('./revenue.page.js'), 'RevenuePage'),
});

const priceChanges = createRoute({
  getParentRoute: () => financeArea,
  path: '/price-changes',
  loader: textsOf('reports'),
  validateSearch: searchOf({
    from: anyDay,
    to: anyDay,
    kind: oneOf('price', 'multiplier', 'rule'),
    subject: anyText,
  }),
  component: lazyRouteComponent(() => import('./price-changes.page.js'), 'PriceChangesPage'),
});

const deferred = createRoute({
  getParentRoute: () => financeArea,
  path: '/deferred-revenue',
  loader: textsOf('reports'),
  validateSearch: searchOf({ from: anyDay, to: anyDay }),
  component: lazyRouteComponent(() => import('./deferred.page.js'), 'DeferredPage'),
});

const lots = createRoute({
  getParentRoute: () => financeArea,
  path: '/deferred-revenue/lots',
  loader: textsOf('reports'),
  validateSearch: searchOf({ to: anyDay, accountId: anyText, all: oneOf('yes'), cursor }),
  component: lazyRouteComponent(() => import('./lots.page.js'), 'LotsPage'),
});

const work = createRoute({
  getParentRoute: () => financeArea,
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
  component: lazyRouteComponent(() => import('./work.page.js'), 'WorkPage'),
});

const charge = createRoute({
  getParentRoute: () => financeArea,
  path: '/charges/$chargeId',
  loader: textsOf('reports'),
  component: lazyRouteComponent(() => import('./charge.page.js'), 'ChargePage'),
});

export const reportPages = [revenue, priceChanges, deferred, lots, work, charge] as const;
