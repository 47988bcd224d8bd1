import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { textsOf } from '../../shell/access.js';
import { cursor, anyDay, oneOf, searchOf, anyText } from '../../ui/search.js';
import { financeArea } from '../finance.area.js';
import { reasonsToAdjust } from '../../api/enumerations.js';

const adjustments = createRoute({
  getParentRoute: () => financeArea,
  path: '/adjustments',
  loader: textsOf('desk'),
  validateSearch: searchOf({
    tab: oneOf('write-offs', 'debts'),
    accountId: anyText,
    reason: oneOf(...reasonsToAdjust),
    from: anyDay,
    to: anyDay,
    cursor,
  }),
  component: lazyRouteComponent(() => import('./adjustments.page.js'), 'AdjustmentsPage'),
});

export const deskPages = [adjustments] as const;
