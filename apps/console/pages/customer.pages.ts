import { createRoute, lazyRouteComponent as lazy, redirect } from '@tanstack/react-router';
import { families, ticketStages, ticketTypes } from '../api/enumerations.js';
import { notForViewers, onlyFor, textsOf, textsOfSession } from '../shell/access.js';
import { currentSession } from '../shell/session.js';
import { anyId, anyModel, anyText, cursor, oneOf, ownPath } from '../ui/search.js';
import { logSearch } from '../user/logs/log-search.js';
import { usageSearch } from '../user/usage/usage-search.js';
import { statementSearch } from '../user/wallet/statement-search.js';
import { below, page, rootRoute } from './root.route.js';

/** Pages for everybody, signed in or not. */
const visitor = createRoute({
  getParentRoute: () => rootRoute,
  id: 'visitor',
  loader: textsOf('visitor'),
});

const landing = createRoute({
  ...below(visitor, '/'),
  // Signed-in people go to their home; they find this content at /connect.
  beforeLoad: async (): Promise<void> => {
    const session = await currentSession();
    if (!session) return;
    const { homeOf } = await import('../shell/navigation/navigation.js');
    throw redirect({ to: homeOf(session) });
  },
  component: lazy(() => import('../visitor/landing.page.js')),
});

/** The account of the signed-in user. */
const user = createRoute({
  getParentRoute: () => rootRoute,
  id: 'user',
  beforeLoad: onlyFor('user'),
  loader: textsOf('user'),
});

const order = createRoute({
  ...below(user, '/topups/$orderId', 'wallet'),
  // Stripe returns here with a bare `?paid`.
  validateSearch: (given: Record<string, unknown>): { paid?: string } =>
    'paid' in given ? { paid: 'yes' } : {},
  component: lazy(() => import('../user/wallet/order.page.js')),
});

const ofVisitor = [
  landing,
  page(below(visitor, '/marketplace'), () => import('../visitor/marketplace.page.js'), {
    text: anyText,
    family: oneOf(...families),
    vendor: anyText,
    group: anyText,
    sort: oneOf('model', '-model', 'vendor', '-vendor', 'price', '-price'),
    view: oneOf('cards', 'table'),
    /** From before models had pages: the open one. */
    model: anyText,
  }),
  page(below(visitor, '/marketplace/$model', 'models'), () => import('../visitor/model.page.js')),
  page(
    { ...below(visitor, '/connect'), loader: textsOfSession('calls') },
    () => import('../visitor/connect.page.js'),
  ),
  page(below(visitor, '/status', 'models'), () => import('../visitor/status.page.js')),
  page(below(visitor, '/retention', 'privacy'), () => import('../visitor/retention.page.js')),
  page(below(visitor, '/sign-in'), () => import('../visitor/sign-in.page.js'), {
    next: ownPath,
    ended: oneOf('yes'),
  }),
  page(below(visitor, '/sign-up'), () => import('../visitor/sign-up.page.js'), { invite: anyText }),
  // Links in mails carry their token after `#`, which reaches no server or log.
  page(below(visitor, '/sign-up/confirm'), () => import('../visitor/confirm-sign-up.page.js')),
  page(below(visitor, '/confirm-email'), () => import('../visitor/confirm-email.page.js')),
  page(below(visitor, '/forgot-password'), () => import('../visitor/forgot-password.page.js')),
  page(below(visitor, '/reset-password'), () => import('../visitor/reset-password.page.js')),
] as const;
export const visitorPages = visitor.addChildren(ofVisitor);

const ofUser = [
  order,
  page(below(user, '/overview'), () => import('../user/overview.page.js')),
  page(below(user, '/tokens', 'tokens'), () => import('../user/tokens/tokens.page.js'), {
    cursor,
    /** The key whose rules are open. */
    key: anyText,
    new: oneOf('yes'),
  }),
  page(below(user, '/wallet', 'wallet', 'calls'), () => import('../user/wallet/wallet.page.js'), {
    tab: oneOf('statement', 'invites', 'details'),
    cursor,
    /** An initial amount, such as that of an unpaid order. */
    credits: anyText,
    ...statementSearch,
    /** The request that is open. */
    charge: anyText,
  }),
  page(
    { ...below(user, '/playground', 'calls'), beforeLoad: notForViewers },
    () => import('../user/playground/playground.page.js'),
    {
      kind: oneOf('image', 'edit', 'video', '3d', 'chat', 'speech'),
      model: anyText,
      /** The key to use. */
      key: anyText,
      /** The video that was started here. */
      task: anyText,
      /** The task to take the prompt and settings from. */
      again: anyText,
    },
  ),
  page(below(user, '/library', 'calls'), () => import('../user/library/library.page.js'), {
    /** All by default. */
    kind: oneOf('video', '3d', 'image'),
    cursor,
    /** The task that is open. */
    task: anyText,
    /** The request that is open. */
    charge: anyText,
  }),
  page(below(user, '/usage', 'calls', 'charts'), () => import('../user/usage/usage.page.js'), usageSearch),
  page(below(user, '/logs', 'calls'), () => import('../user/logs/logs.page.js'), logSearch),
  page(below(user, '/tasks', 'calls'), () => import('../user/tasks/tasks.page.js'), {
    kind: oneOf('video', '3d'),
    state: oneOf('running', 'queued', 'in_progress', 'completed', 'failed'),
    model: anyModel,
    keyId: anyId,
    cursor,
    /** The task that is open. */
    task: anyText,
  }),
  page(below(user, '/webhooks', 'webhooks'), () => import('../user/webhooks/webhooks.page.js')),
  page(below(user, '/webhooks/$endpointId', 'webhooks'), () => import('../user/webhooks/endpoint.page.js'), {
    state: oneOf('pending', 'delivered', 'failed'),
    cursor,
    /** The delivery that is open. */
    delivery: anyText,
  }),
  page(below(user, '/tickets', 'tickets'), () => import('../user/tickets/tickets.page.js'), {
    state: oneOf(...ticketStages),
    kind: oneOf(...ticketTypes),
    cursor,
  }),
  page(
    { ...below(user, '/tickets/new', 'tickets'), beforeLoad: notForViewers },
    () => import('../user/tickets/new-ticket.page.js'),
    {
      kind: oneOf(...ticketTypes),
      /** The charge that it is about. */
      charge: anyText,
    },
  ),
  page(below(user, '/tickets/$ticketId', 'tickets'), () => import('../user/tickets/ticket.page.js')),
  page(
    { ...below(user, '/account', 'account'), beforeLoad: notForViewers },
    () => import('../user/account/account.page.js'),
  ),
  page(
    { ...below(user, '/privacy', 'privacy'), beforeLoad: notForViewers },
    () => import('../user/privacy/privacy.page.js'),
    { cursor },
  ),
] as const;
export const userPages = user.addChildren(ofUser);
