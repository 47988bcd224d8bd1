import { IconBell, IconMessages, IconShieldLock, IconUserCog } from '@tabler/icons-react';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { textsOf } from '../shell/access.js';
import type { NavEntry } from '../shell/navigation.js';
import { cursor, oneOf, searchOf, anyText } from '../ui/search.js';
import { userArea } from './user.area.js';
import { ticketTypes, ticketStages } from '../api/enumerations.js';

const tickets = createRoute({
  getParentRoute: () => userArea,
  path: '/tickets',
  loader: textsOf('tickets'),
  validateSearch: searchOf({
    state: oneOf(...ticketStages),
    kind: oneOf(...ticketTypes),
    cursor,
  }),
  component: lazyRouteComponent(() => import('./tickets/tickets.page.js'), 'TicketsPage'),
});

const newTicket = createRoute({
  getParentRoute: () => userArea,
  path: '/tickets/new',
  loader: textsOf('tickets'),
  validateSearch: searchOf({
    kind: oneOf(...ticketTypes),
    /** What it is about. */
    charge: anyText,
  }),
  component: lazyRouteComponent(() => import('./tickets/new-ticket.page.js'), 'NewTicketPage'),
});

const ticket = createRoute({
  getParentRoute: () => userArea,
  path: '/tickets/$ticketId',
  loader: textsOf('tickets'),
  component: lazyRouteComponent(() => import('./tickets/ticket.page.js'), 'TicketPage'),
});

const webhooks = createRoute({
  getParentRoute: () => userArea,
  path: '/webhooks',
  loader: textsOf('webhooks'),
  component: lazyRouteComponent(() => import('./webhooks/webhooks.page.js'), 'WebhooksPage'),
});

const endpoint = createRoute({
  getParentRoute: () => userArea,
  path: '/webhooks/$endpointId',
  loader: textsOf('webhooks'),
  validateSearch: searchOf({
    state: oneOf('pending', 'delivered', 'failed'),
    cursor,
    /** The delivery that is open. */
    delivery: anyText,
  }),
  component: lazyRouteComponent(() => import('./webhooks/endpoint.page.js'), 'EndpointPage'),
});

const account = createRoute({
  getParentRoute: () => userArea,
  path: '/account',
  loader: textsOf('account'),
  component: lazyRouteComponent(() => import('./account/account.page.js'), 'AccountPage'),
});

const privacy = createRoute({
  getParentRoute: () => userArea,
  path: '/privacy',
  loader: textsOf('privacy'),
  validateSearch: searchOf({ cursor }),
  component: lazyRouteComponent(() => import('./privacy/privacy.page.js'), 'PrivacyPage'),
});

export const accountPages = [tickets, newTicket, ticket, webhooks, endpoint, account, privacy] as const;

export const accountEntries: readonly NavEntry[] = [
  { to: '/webhooks', label: 'webhooks', icon: IconBell, roles: ['user'] },
  { to: '/tickets', label: 'tickets', icon: IconMessages, roles: ['user'] },
  { to: '/account', label: 'profile', icon: IconUserCog, roles: ['user'], isOwn: true },
  { to: '/privacy', label: 'privacy', icon: IconShieldLock, roles: ['user'], isOwn: true },
];
