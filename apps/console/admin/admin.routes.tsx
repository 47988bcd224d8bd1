import {
  IconCpu,
  IconHistory,
  IconKey,
  IconPlugConnected,
  IconTags,
  IconTrash,
  IconUsersGroup,
} from '@tabler/icons-react';
import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import type { NavGroup } from '../shell/navigation.js';
import { cursor, oneOf, searchOf, anyText } from '../ui/search.js';
import { textsOf } from '../shell/access.js';
import { adminArea } from './admin.area.js';
import { catalogPages } from './catalog/catalog.routes.js';
import { pricePages } from './prices/prices.routes.js';
import { staffRoles } from '../api/enumerations.js';

const first = createRoute({
  getParentRoute: () => adminArea,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/admin/prices' });
  },
});

const people = createRoute({
  getParentRoute: () => adminArea,
  path: '/people',
  validateSearch: searchOf({
    email: anyText,
    role: oneOf(...staffRoles),
    cursor,
    /** Who is open. */
    person: anyText,
  }),
  component: lazyRouteComponent(() => import('./people/people.page.js'), 'PeoplePage'),
});

const auditLog = createRoute({
  getParentRoute: () => adminArea,
  path: '/audit-log',
  validateSearch: searchOf({
    action: anyText,
    subject: anyText,
    actor: anyText,
    accountId: anyText,
    cursor,
    /** The entry that is open. */
    entry: anyText,
  }),
  component: lazyRouteComponent(() => import('./audit/audit.page.js'), 'AuditPage'),
});

const retention = createRoute({
  getParentRoute: () => adminArea,
  path: '/retention',
  loader: textsOf('privacy'),
  component: lazyRouteComponent(() => import('./retention/retention.page.js'), 'AdminRetentionPage'),
});

export const adminPages = adminArea.addChildren([
  first,
  ...pricePages,
  ...catalogPages,
  people,
  auditLog,
  retention,
]);

export const adminNavigation: NavGroup = {
  label: 'admin',
  entries: [
    { to: '/admin/prices', label: 'prices', icon: IconTags, roles: ['admin'] },
    { to: '/admin/models', label: 'catalogModels', icon: IconCpu, roles: ['admin'] },
    { to: '/admin/groups', label: 'groups', icon: IconKey, roles: ['admin'] },
    { to: '/admin/channels', label: 'channels', icon: IconPlugConnected, roles: ['admin'] },
    { to: '/admin/people', label: 'people', icon: IconUsersGroup, roles: ['admin'] },
    { to: '/admin/audit-log', label: 'auditLog', icon: IconHistory, roles: ['admin'] },
    { to: '/admin/retention', label: 'retention', icon: IconTrash, roles: ['admin'] },
  ],
};
