import { IconLayoutDashboard } from '@tabler/icons-react';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { onlyFor, textsOf } from '../shell/access.js';
import type { NavGroup } from '../shell/navigation.js';
import { rootRoute } from '../shell/root.route.js';

/** What belongs to the account of the person who is signed in. */
const area = createRoute({
  getParentRoute: () => rootRoute,
  id: 'user',
  beforeLoad: onlyFor('user'),
  loader: textsOf('user'),
});

const overview = createRoute({
  getParentRoute: () => area,
  path: '/overview',
  component: lazyRouteComponent(() => import('./overview.page.js'), 'OverviewPage'),
});

export const userRoutes = area.addChildren([overview]);

export const userNavigation: NavGroup = {
  label: 'account',
  entries: [{ to: '/overview', label: 'overview', icon: IconLayoutDashboard, roles: ['user'] }],
};
