import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { textsOf } from '../../shell/access.js';
import { cursor, day, oneOf, searchOf, text } from '../../ui/search.js';
import { financeArea } from '../finance.area.js';

const adjustments = createRoute({
  getParentRoute: () => financeArea,
  path: '/adjustments',
  loader: textsOf('desk'),
  validateSearch: searchOf({
    tab: oneOf('write-offs', 'debts'),
    accountId: text,
    reason: oneOf('goodwill', 'correction', 'migration', 'compensation'),
    from: day,
    to: day,
    cursor,
  }),
  component: lazyRouteComponent(() => import('./adjustments.page.js'), 'AdjustmentsPage'),
});

export const deskRoutes = [adjustments] as const;
