import { createRoute, lazyRouteComponent as lazy, redirect } from '@tanstack/react-router';
import { families, staffRoles, ticketTypes } from '../api/enumerations.js';
import { onlyFor, textsOf } from '../shell/access.js';
import { STAFF } from '../shell/session.js';
import { anyDay, anyId, anyModel, anyText, cursor, oneOf, searchOf } from '../ui/search.js';
import { rootRoute } from './root.route.js';

/** Customers and what they ask for. */
const support = createRoute({
  getParentRoute: () => rootRoute,
  path: '/support',
  beforeLoad: onlyFor('support', 'admin'),
  loader: textsOf('support'),
});

const ofSupport = [
  createRoute({
    getParentRoute: () => support,
    path: '/',
    beforeLoad: (): void => {
      throw redirect({ to: '/support/tickets' });
    },
  }),
  createRoute({
    getParentRoute: () => support,
    path: '/accounts',
    validateSearch: searchOf({ query: anyText, cursor }),
    component: lazy(() => import('../support/accounts/accounts.page.js'), 'AccountsPage'),
  }),
  createRoute({
    getParentRoute: () => support,
    path: '/accounts/$accountId',
    validateSearch: searchOf({
      tab: oneOf('keys', 'usage', 'tickets'),
      /** The key and the model whose requests are listed. */
      keyId: anyId,
      model: anyModel,
      cursor,
      /** The request that is open. */
      charge: anyText,
    }),
    component: lazy(() => import('../support/accounts/account.page.js'), 'SupportAccountPage'),
  }),
  createRoute({
    getParentRoute: () => support,
    path: '/tickets',
    validateSearch: searchOf({
      /** Those that wait for support, when left out. */
      state: oneOf('answered', 'closed', 'all'),
      kind: oneOf(...ticketTypes),
      /** Everybody's, when left out. */
      assignee: oneOf('me', 'none'),
      cursor,
    }),
    component: lazy(() => import('../support/tickets/queue.page.js'), 'TicketQueuePage'),
  }),
  createRoute({
    getParentRoute: () => support,
    path: '/tickets/$ticketId',
    component: lazy(() => import('../support/tickets/ticket.page.js'), 'SupportTicketPage'),
  }),
] as const;
export const supportPages = support.addChildren(ofSupport);

/** Second signatures: of the kinds that each role decides. */
export const approvalPages = createRoute({
  getParentRoute: () => rootRoute,
  path: '/approvals',
  beforeLoad: onlyFor(...STAFF),
  loader: textsOf('support'),
  validateSearch: searchOf({ state: oneOf('approved', 'rejected'), cursor, approval: anyText }),
  component: lazy(() => import('../support/approvals/approvals.page.js'), 'ApprovalsPage'),
});

/** What is sold, at what price and through whom, and who may change it. */
const admin = createRoute({
  getParentRoute: () => rootRoute,
  path: '/admin',
  beforeLoad: onlyFor('admin'),
  loader: textsOf('admin'),
});

const ofAdmin = [
  createRoute({
    getParentRoute: () => admin,
    path: '/',
    loader: textsOf('operator', 'charts'),
    validateSearch: searchOf({
      /** The last 30 days when left out. */
      from: anyDay,
      to: anyDay,
      /** Requests that were charged when left out. */
      show: oneOf('failedCharges', 'net'),
      /** By model when left out. */
      by: oneOf('family', 'group', 'channel'),
    }),
    component: lazy(() => import('../admin/home/home.page.js'), 'AdminHomePage'),
  }),
  createRoute({
    getParentRoute: () => admin,
    path: '/prices',
    loader: textsOf('prices', 'catalog'),
    validateSearch: searchOf({
      tab: oneOf('groups', 'proposals'),
      text: anyText,
      family: oneOf(...families),
      state: oneOf('open'),
      cursor,
    }),
    component: lazy(() => import('../admin/prices/prices.page.js'), 'PricesPage'),
  }),
  createRoute({
    getParentRoute: () => admin,
    path: '/prices/models/$model',
    loader: textsOf('prices'),
    component: lazy(() => import('../admin/prices/time-line.page.js'), 'TimeLinePage'),
  }),
  createRoute({
    getParentRoute: () => admin,
    path: '/prices/propose',
    loader: textsOf('prices'),
    validateSearch: searchOf({
      /** What the first change is about. */
      model: anyText,
      group: anyText,
      kind: oneOf('multiplier', 'rule'),
      /** The proposal that is changed in place of making one. */
      revise: anyText,
    }),
    component: lazy(() => import('../admin/prices/propose.page.js'), 'ProposePage'),
  }),
  createRoute({
    getParentRoute: () => admin,
    path: '/prices/proposals/$proposalId',
    loader: textsOf('prices'),
    validateSearch: searchOf({ span: oneOf('day', 'week', 'month') }),
    component: lazy(() => import('../admin/prices/proposal.page.js'), 'ProposalPage'),
  }),
  createRoute({
    getParentRoute: () => admin,
    path: '/prices/import',
    loader: textsOf('prices'),
    component: lazy(() => import('../admin/prices/import.page.js'), 'ImportPage'),
  }),
  createRoute({
    getParentRoute: () => admin,
    path: '/prices/vendors',
    loader: textsOf('prices'),
    validateSearch: searchOf({ text: anyText, vendor: anyText }),
    component: lazy(() => import('../admin/prices/vendors.page.js'), 'VendorsPage'),
  }),
  createRoute({
    getParentRoute: () => admin,
    path: '/models',
    loader: textsOf('catalog'),
    validateSearch: searchOf({
      text: anyText,
      family: oneOf(...families),
      /** The model that is open, or the form of a new one. */
      model: anyText,
      new: oneOf('model', 'alias'),
    }),
    component: lazy(() => import('../admin/catalog/models.page.js'), 'ModelsPage'),
  }),
  createRoute({
    getParentRoute: () => admin,
    path: '/groups',
    loader: textsOf('catalog'),
    validateSearch: searchOf({ group: anyText, new: oneOf('yes') }),
    component: lazy(() => import('../admin/catalog/groups.page.js'), 'GroupsPage'),
  }),
  createRoute({
    getParentRoute: () => admin,
    path: '/channels',
    loader: textsOf('catalog'),
    validateSearch: searchOf({ new: oneOf('yes') }),
    component: lazy(() => import('../admin/catalog/channels.page.js'), 'ChannelsPage'),
  }),
  createRoute({
    getParentRoute: () => admin,
    path: '/channels/$channelId',
    loader: textsOf('catalog'),
    validateSearch: searchOf({ tab: oneOf('settings') }),
    component: lazy(() => import('../admin/catalog/channel.page.js'), 'ChannelPage'),
  }),
  createRoute({
    getParentRoute: () => admin,
    path: '/people',
    validateSearch: searchOf({
      email: anyText,
      role: oneOf(...staffRoles),
      cursor,
      /** Who is open. */
      person: anyText,
    }),
    component: lazy(() => import('../admin/people/people.page.js'), 'PeoplePage'),
  }),
  createRoute({
    getParentRoute: () => admin,
    path: '/audit-log',
    validateSearch: searchOf({
      action: anyText,
      subject: anyText,
      actor: anyText,
      accountId: anyId,
      cursor,
      /** The entry that is open. */
      entry: anyText,
    }),
    component: lazy(() => import('../admin/audit/audit.page.js'), 'AuditPage'),
  }),
  createRoute({
    getParentRoute: () => admin,
    path: '/retention',
    loader: textsOf('privacy'),
    component: lazy(() => import('../admin/retention/retention.page.js'), 'AdminRetentionPage'),
  }),
] as const;
export const adminPages = admin.addChildren(ofAdmin);

/** How the programs are. */
const operator = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operator',
  beforeLoad: onlyFor('admin'),
  loader: textsOf('operator'),
});

const ofOperator = [
  createRoute({
    getParentRoute: () => operator,
    path: '/',
    beforeLoad: (): void => {
      throw redirect({ to: '/operator/system' });
    },
  }),
  createRoute({
    getParentRoute: () => operator,
    path: '/system',
    component: lazy(() => import('../operator/system.page.js'), 'SystemPage'),
  }),
  createRoute({
    getParentRoute: () => operator,
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
    component: lazy(() => import('../operator/dead-letters.page.js'), 'DeadLettersPage'),
  }),
] as const;
export const operatorPages = operator.addChildren(ofOperator);
