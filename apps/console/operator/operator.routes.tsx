import { IconActivityHeartbeat, IconMailOff } from '@tabler/icons-react';
import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { onlyFor, textsOf } from '../shell/access.js';
import type { NavGroup } from '../shell/navigation.js';
import { rootRoute } from '../shell/root.route.js';
import { cursor, oneOf, searchOf, anyText } from '../ui/search.js';

/** How the programs are. */
const area = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operator',
  beforeLoad: onlyFor('admin'),
  loader: textsOf('operator'),
});

const first = createRoute({
  getParentRoute: () => area,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/operator/system' });
  },
});

const system = createRoute({
  getParentRoute: () => area,
  path: '/system',
  component: lazyRouteComponent(() => import('./system.page.js'), 'SystemPage'),
});

const deadLetters = createRoute({
  getParentRoute: () => area,
  path: '/dead-letters',
  validateSearch: searchOf({
    /** Those that nobody played again, when left out. */
    show: oneOf('replayed', 'all'),
    topic: anyText,
    about: anyText,
    cursor,
    /** The letter that is open. */
    letter: anyText,
  }),
  component: lazyRouteComponent(() => import('./dead-letters.page.js'), 'DeadLettersPage'),
});

export const operatorPages = area.addChildren([first, system, deadLetters]);

export const operatorNavigation: NavGroup = {
  label: 'operator',
  entries: [
    { to: '/operator/system', label: 'system', icon: IconActivityHeartbeat, roles: ['admin'] },
    { to: '/operator/dead-letters', label: 'deadLetters', icon: IconMailOff, roles: ['admin'] },
  ],
};
