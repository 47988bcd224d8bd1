import { createRoute, redirect } from '@tanstack/react-router';
import { families, staffRoles, ticketTypes } from '../api/enumerations.js';
import { onlyFor, textsOf } from '../shell/access.js';
import { STAFF } from '../shell/session.js';
import { anyDay, anyId, anyModel, anyText, cursor, oneOf } from '../ui/search.js';
import { below, page, rootRoute } from './root.route.js';

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
  page(below(support, '/accounts'), () => import('../support/accounts/accounts.page.js'), {
    query: anyText,
    cursor,
  }),
  page(below(support, '/accounts/$accountId'), () => import('../support/accounts/account.page.js'), {
    tab: oneOf('keys', 'usage', 'tickets'),
    /** Limits the listed requests to a key or a model. */
    keyId: anyId,
    model: anyModel,
    cursor,
    /** The request that is open. */
    charge: anyText,
  }),
  page(below(support, '/tickets'), () => import('../support/tickets/queue.page.js'), {
    /** Open ones by default. */
    state: oneOf('answered', 'closed', 'all'),
    kind: oneOf(...ticketTypes),
    /** Everybody's by default. */
    assignee: oneOf('me', 'none'),
    cursor,
  }),
  page(below(support, '/tickets/$ticketId'), () => import('../support/tickets/ticket.page.js')),
] as const;
export const supportPages = support.addChildren(ofSupport);

/** Second signatures, for every role that decides some. */
export const approvalPages = page(
  { ...below(rootRoute, '/approvals', 'support'), beforeLoad: onlyFor(...STAFF) },
  () => import('../support/approvals/approvals.page.js'),
  { state: oneOf('approved', 'rejected'), cursor, approval: anyText },
);

/** The catalog, prices and people. */
const admin = createRoute({
  getParentRoute: () => rootRoute,
  path: '/admin',
  beforeLoad: onlyFor('admin'),
  loader: textsOf('admin'),
});

const ofAdmin = [
  page(below(admin, '/', 'operator', 'charts'), () => import('../admin/home/home.page.js'), {
    /** The last 30 days by default. */
    from: anyDay,
    to: anyDay,
    /** Charged requests by default. */
    show: oneOf('failedCharges', 'net'),
    /** By model by default. */
    by: oneOf('family', 'group', 'channel'),
  }),
  page(below(admin, '/prices', 'prices', 'catalog'), () => import('../admin/prices/prices.page.js'), {
    tab: oneOf('groups', 'proposals'),
    text: anyText,
    family: oneOf(...families),
    state: oneOf('open'),
    cursor,
  }),
  page(below(admin, '/prices/models/$model', 'prices'), () => import('../admin/prices/time-line.page.js')),
  page(below(admin, '/prices/propose', 'prices'), () => import('../admin/prices/propose.page.js'), {
    /** What the first change is about. */
    model: anyText,
    group: anyText,
    kind: oneOf('multiplier', 'rule'),
    /** The proposal to revise, instead of a new one. */
    revise: anyText,
  }),
  page(
    below(admin, '/prices/proposals/$proposalId', 'prices'),
    () => import('../admin/prices/proposal.page.js'),
    { span: oneOf('day', 'week', 'month') },
  ),
  page(below(admin, '/prices/import', 'prices'), () => import('../admin/prices/import.page.js')),
  page(below(admin, '/prices/vendors', 'prices'), () => import('../admin/prices/vendors.page.js'), {
    text: anyText,
    vendor: anyText,
  }),
  page(below(admin, '/models', 'catalog'), () => import('../admin/catalog/models.page.js'), {
    text: anyText,
    family: oneOf(...families),
    /** The model that is open, or the form of a new one. */
    model: anyText,
    new: oneOf('model', 'alias'),
  }),
  page(below(admin, '/groups', 'catalog'), () => import('../admin/catalog/groups.page.js'), {
    group: anyText,
    new: oneOf('yes'),
  }),
  page(below(admin, '/channels', 'catalog'), () => import('../admin/catalog/channels.page.js'), {
    new: oneOf('yes'),
  }),
  page(below(admin, '/channels/$channelId', 'catalog'), () => import('../admin/catalog/channel.page.js'), {
    tab: oneOf('settings'),
  }),
  page(below(admin, '/people'), () => import('../admin/people/people.page.js'), {
    email: anyText,
    role: oneOf(...staffRoles),
    cursor,
    /** The person who is open. */
    person: anyText,
  }),
  page(below(admin, '/audit-log'), () => import('../admin/audit/audit.page.js'), {
    action: anyText,
    subject: anyText,
    actor: anyText,
    accountId: anyId,
    cursor,
    /** The entry that is open. */
    entry: anyText,
  }),
  page(below(admin, '/retention', 'privacy'), () => import('../admin/retention/retention.page.js')),
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
  page(below(operator, '/system'), () => import('../operator/system.page.js')),
  page(below(operator, '/dead-letters'), () => import('../operator/dead-letters.page.js'), {
    /** Unresolved ones by default. */
    show: oneOf('replayed', 'all'),
    topic: anyText,
    about: anyText,
    cursor,
    /** The letter that is open. */
    letter: anyText,
  }),
] as const;
export const operatorPages = operator.addChildren(ofOperator);
