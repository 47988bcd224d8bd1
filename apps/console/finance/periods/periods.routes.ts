import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { textsOf } from '../../shell/access.js';
import { cursor, anyDay, oneOf, searchOf } from '../../ui/search.js';
import { financeArea } from '../finance.area.js';

const periods = createRoute({
  getParentRoute: () => financeArea,
  path: '/periods',
  loader: textsOf('periods'),
  validateSearch: searchOf({ state: oneOf('closing', 'closed', 'abandoned'), cursor }),
  component: lazyRouteComponent(() => import('./periods.page.js'), 'PeriodsPage'),
});

const close = createRoute({
  getParentRoute: () => financeArea,
  path: '/periods/close',
  loader: textsOf('periods'),
  /** The first day that is outside. */
  validateSearch: searchOf({ end: anyDay }),
  component: lazyRouteComponent(() => import('./close.page.js'), 'ClosePage'),
});

const period = createRoute({
  getParentRoute: () => financeArea,
  path: '/periods/$periodId',
  loader: textsOf('periods'),
  validateSearch: searchOf({ tab: oneOf('balances', 'late'), cursor }),
  component: lazyRouteComponent(() => import('./period.page.js'), 'PeriodPage'),
});

export const periodPages = [periods, close, period] as const;
