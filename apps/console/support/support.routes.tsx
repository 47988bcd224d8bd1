import { IconChecks, IconInbox, IconUsers } from '@tabler/icons-react';
import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { onlyFor, textsOf } from '../shell/access.js';
import type { NavGroup } from '../shell/navigation.js';
import { rootRoute } from '../shell/root.route.js';
import { STAFF } from '../shell/session.js';
import { cursor, oneOf, searchOf, anyText } from '../ui/search.js';
import { supportArea } from './support.area.js';
import { ticketTypes } from '../api/enumerations.js';

const first = createRoute({
  getParentRoute: () => supportArea,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/support/accounts' });
  },
});

const accounts = createRoute({
  getParentRoute: () => supportArea,
  path: '/accounts',
  validateSearch: searchOf({ query: anyText, cursor }),
  component: lazyRouteComponent(() => import('./accounts/accounts.page.js'), 'AccountsPage'),
});

const account = createRoute({
  getParentRoute: () => supportArea,
  path: '/accounts/$accountId',
  validateSearch: searchOf({
    tab: oneOf('keys', 'usage', 'tickets'),
    cursor,
    /** The request that is open. */
    charge: anyText,
  }),
  component: lazyRouteComponent(() => import('./accounts/account.page.js'), 'SupportAccountPage'),
});

const tickets = createRoute({
  getParentRoute: () => supportArea,
  path: '/tickets',
  validateSearch: searchOf({
    /** Those that wait for support, when left out. */
    state: oneOf('answered', 'closed', 'all'),
    kind: oneOf(...ticketTypes),
    cursor,
  }),
  component: lazyRouteComponent(() => import('./tickets/queue.page.js'), 'TicketQueuePage'),
});

const ticket = createRoute({
  getParentRoute: () => supportArea,
  path: '/tickets/$ticketId',
  component: lazyRouteComponent(() => import('./tickets/ticket.page.js'), 'SupportTicketPage'),
});

export const supportPages = supportArea.addChildren([first, accounts, account, tickets, ticket]);

/** Second signatures: of the kinds that each role decides. */
export const approvalPages = createRoute({
  getParentRoute: () => rootRoute,
  path: '/approvals',
  beforeLoad: onlyFor(...STAFF),
  loader: textsOf('support'),
  validateSearch: searchOf({ state: oneOf('approved', 'rejected'), cursor, approval: anyText }),
  component: lazyRouteComponent(() => import('./approvals/approvals.page.js'), 'ApprovalsPage'),
});

export const supportNavigation: NavGroup = {
  label: 'support',
  entries: [
    { to: '/support/accounts', label: 'accounts', icon: IconUsers, roles: ['support', 'admin'] },
    { to: '/support/tickets', label: 'queue', icon: IconInbox, roles: ['support', 'admin'] },
    { to: '/approvals', label: 'approvals', icon: IconChecks, roles: STAFF },
  ],
};
