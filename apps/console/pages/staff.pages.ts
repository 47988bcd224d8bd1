import { createRoute, lazyRouteComponent as lazy, redirect } from '@tanstack/react-router';
import { families, staffRoles, ticketTypes } from '../api/enumerations.js';
import { onlyFor, textsOf } from '../shell/access.js';
import { STAFF } from '../shell/session.js';
import { anyDay, anyId, anyModel, anyText, cursor, oneOf, searchOf } from '../ui/search.js';
import { below, rootRoute } from './root.route.js';

/** Customers and their tickets. */
const support = createRoute({
  getParentRoute: () => rootRoute,
  path: '/support',
  beforeLoad: onlyFor('support', 'admin'),
  loader: textsOf('support'),
});

const ofSupport = [
  createRoute({
    ...below(support, '/'),
    beforeLoad: (): void => {
      throw redirect({ to: '/support/tickets' });
    },
  }),
  createRoute({
    ...below(support, '/accounts'),
    validateSearch: searchOf({ query: anyText, cursor }),
    component: lazy(() => import('../support/accounts/accounts.page.js'), 'AccountsPage'),
  }),
  createRoute({
    ...below(support, '/accounts/$accountId'),
    validateSearch: searchOf({
      tab: oneOf('keys', 'usage', 'tickets'),
      /** Limits the listed requests to a key or a model. */
      keyId: anyId,
      model: anyModel,
      cursor,
      /** The request that is open. */
      charge: anyText,
    }),
    component: lazy(() => import('../support/accounts/account.page.js'), 'SupportAccountPage'),
  }),
  createRoute({
    ...below(support, '/tickets'),
    validateSearch: searchOf({
      /** Open ones by default. */
      state: oneOf('answered', 'closed', 'all'),
      kind: oneOf(...ticketTypes),
      /** Everybody's by default. */
      assignee: oneOf('me', 'none'),
      cursor,
    }),
    component: lazy(() => import('../support/tickets/queue.page.js'), 'TicketQueuePage'),
  }),
  createRoute({
    ...below(support, '/tickets/$ticketId'),
    component: lazy(() => import('../support/tickets/ticket.page.js'), 'SupportTicketPage'),
  }),
] as const;
export const supportPages = support.addChildren(ofSupport);

/** Second signatures, for every role that decides some. */
export const approvalPages = createRoute({
  getParentRoute: () => rootRoute,
  path: '/approvals',
  beforeLoad: onlyFor(...STAFF),
  loader: textsOf('support'),
  validateSearch: searchOf({ state: oneOf('approved', 'rejected'), cursor, approval: anyText }),
  component: lazy(() => import('../support/approvals/approvals.page.js'), 'ApprovalsPage'),
});

/** The catalog, prices and people. */
const admin = createRoute({
  getParentRoute: () => rootRoute,
  path: '/admin',
  beforeLoad: onlyFor('admin'),
  loader: textsOf('admin'),
});

const ofAdmin = [
  createRoute({
    ...below(admin, '/', 'operator', 'charts'),
    validateSearch: searchOf({
      /** The last 30 days by default. */
      from: anyDay,
      to: anyDay,
      /** Charged requests by default. */
      show: oneOf('failedCharges', 'net'),
      /** By model by default. */
      by: oneOf('family', 'group', 'channel'),
    }),
    component: lazy(() => import('../admin/home/home.page.js'), 'AdminHomePage'),
  }),
  createRoute({
    ...below(admin, '/prices', 'prices', 'catalog'),
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
    ...below(admin, '/prices/models/$model', 'prices'),
    component: lazy(() => import('../admin/prices/time-line.page.js'), 'TimeLinePage'),
  }),
  createRoute({
    ...below(admin, '/prices/propose', 'prices'),
    validateSearch: searchOf({
      /** What the first change is about. */
      model: anyText,
      group: anyText,
      kind: oneOf('multiplier', 'rule'),
      /** The proposal to revise, instead of a new one. */
      revise: anyText,
    }),
    component: lazy(() => import('../admin/prices/propose.page.js'), 'ProposePage'),
  }),
  createRoute({
    ...below(admin, '/prices/proposals/$proposalId', 'prices'),
    validateSearch: searchOf({ span: oneOf('day', 'week', 'month') }),
    component: lazy(() => import('../admin/prices/proposal.page.js'), 'ProposalPage'),
  }),
  createRoute({
    ...below(admin, '/prices/import', 'prices'),
    component: lazy(() => import('../admin/prices/import.page.js'), 'ImportPage'),
  }),
  createRoute({
    ...below(admin, '/prices/vendors', 'prices'),
    validateSearch: searchOf({ text: anyText, vendor: anyText }),
    component: lazy(() => import('../admin/prices/vendors.page.js'), 'VendorsPage'),
  }),
  createRoute({
    ...below(admin, '/models', 'catalog'),
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
    ...below(admin, '/groups', 'catalog'),
    validateSearch: searchOf({ group: anyText, new: oneOf('yes') }),
    component: lazy(() => import('../admin/catalog/groups.page.js'), 'GroupsPage'),
  }),
  createRoute({
    ...below(admin, '/channels', 'catalog'),
    validateSearch: searchOf({ new: oneOf('yes') }),
    component: lazy(() => import('../admin/catalog/channels.page.js'), 'ChannelsPage'),
  }),
  createRoute({
    ...below(admin, '/channels/$channelId', 'catalog'),
    validateSearch: searchOf({ tab: oneOf('settings') }),
    component: lazy(() => import('../admin/catalog/channel.page.js'), 'ChannelPage'),
  }),
  createRoute({
    ...below(admin, '/people'),
    validateSearch: searchOf({
      email: anyText,
      role: oneOf(...staffRoles),
      cursor,
      /** The person who is open. */
      person: anyText,
    }),
    component: lazy(() => import('../admin/people/people.page.js'), 'PeoplePage'),
  }),
  createRoute({
    ...below(admin, '/audit-log'),
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
    ...below(admin, '/retention', 'privacy'),
    component: lazy(() => import('../admin/retention/retention.page.js'), 'AdminRetentionPage'),
  }),
] as const;
export const adminPages = admin.addChildren(ofAdmin);

/** The state of the programs. */
const operator = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operator',
  beforeLoad: onlyFor('admin'),
  loader: textsOf('operator'),
});

const ofOperator = [
  createRoute({
    ...below(operator, '/'),
    beforeLoad: (): void => {
      throw redirect({ to: '/operator/system' });
    },
  }),
  createRoute({
    ...below(operator, '/system'),
    component: lazy(() => import('../operator/system.page.js'), 'SystemPage'),
  }),
  createRoute({
    ...below(operator, '/dead-letters'),
    validateSearch: searchOf({
      /** Unresolved ones by default. */
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
