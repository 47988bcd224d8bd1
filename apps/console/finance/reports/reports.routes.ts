import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { textsOf } from '../../shell/access.js';
import { cursor, day, oneOf, searchOf, text } from '../../ui/search.js';
import { financeArea } from '../finance.area.js';

const revenue = createRoute({
  getParentRoute: () => financeArea,
  path: '/revenue',
  loader: textsOf('reports'),
  validateSearch: searchOf({
    from: day,
    to: day,
    by: oneOf('family', 'group', 'channel', 'account', 'day'),
    /** One value of a dimension that was opened, as `model:{id}`. */
    within: text,
  }),
  component: lazyRouteComponent(() => import('./revenue.page.js'), 'RevenuePage'),
});

const priceChanges = createRoute({
  getParentRoute: () => financeArea,
  path: '/price-changes',
  loader: textsOf('reports'),
  validateSearch: searchOf({ from: day, to: day, kind: oneOf('price', 'multiplier', 'rule'), subject: text }),
  component: lazyRouteComponent(() => import('./price-changes.page.js'), 'PriceChangesPage'),
});

const deferred = createRoute({
  getParentRoute: () => financeArea,
  path: '/deferred-revenue',
  loader: textsOf('reports'),
  validateSearch: searchOf({ from: day, to: day }),
  component: lazyRouteComponent(() => import('./deferred.page.js'), 'DeferredPage'),
});

const lots = createRoute({
  getParentRoute: () => financeArea,
  path: '/deferred-revenue/lots',
  loader: textsOf('reports'),
  validateSearch: searchOf({ to: day, accountId: text, all: oneOf('yes'), cursor }),
  component: lazyRouteComponent(() => import('./lots.page.js'), 'LotsPage'),
});

const work = createRoute({
  getParentRoute: () => financeArea,
  path: '/work',
  loader: textsOf('reports'),
  validateSearch: searchOf({
    tab: oneOf('charges', 'failures', 'promotion'),
    only: oneOf('yes'),
    state: text,
    from: day,
    to: day,
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

export const reportRoutes = [revenue, priceChanges, deferred, lots, work, charge] as const;
