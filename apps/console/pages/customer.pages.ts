import { createRoute, lazyRouteComponent as lazy, redirect } from '@tanstack/react-router';
import { families, ticketStages, ticketTypes } from '../api/enumerations.js';
import { notForViewers, onlyFor, textsOf, textsOfSession } from '../shell/access.js';
import { currentSession } from '../shell/session.js';
import { anyId, anyModel, anyText, cursor, oneOf, ownPath, searchOf } from '../ui/search.js';
import { logSearch } from '../user/logs/log-search.js';
import { usageSearch } from '../user/usage/usage-search.js';
import { statementSearch } from '../user/wallet/statement-search.js';
import { below, rootRoute } from './root.route.js';

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
  component: lazy(() => import('../visitor/landing.page.js'), 'LandingPage'),
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
  component: lazy(() => import('../user/wallet/order.page.js'), 'OrderPage'),
});

const ofVisitor = [
  landing,
  createRoute({
    ...below(visitor, '/marketplace'),
    validateSearch: searchOf({
      text: anyText,
      family: oneOf(...families),
      vendor: anyText,
      group: anyText,
      sort: oneOf('model', '-model', 'vendor', '-vendor', 'price', '-price'),
      view: oneOf('cards', 'table'),
      /** From before models had pages: the open one. */
      model: anyText,
    }),
    component: lazy(() => import('../visitor/marketplace.page.js'), 'MarketplacePage'),
  }),
  createRoute({
    ...below(visitor, '/marketplace/$model', 'models'),
    component: lazy(() => import('../visitor/model.page.js'), 'ModelPage'),
  }),
  createRoute({
    ...below(visitor, '/connect'),
    loader: textsOfSession('calls'),
    component: lazy(() => import('../visitor/connect.page.js'), 'ConnectPage'),
  }),
  createRoute({
    ...below(visitor, '/status', 'models'),
    component: lazy(() => import('../visitor/status.page.js'), 'StatusPage'),
  }),
  createRoute({
    ...below(visitor, '/retention', 'privacy'),
    component: lazy(() => import('../visitor/retention.page.js'), 'RetentionPage'),
  }),
  createRoute({
    ...below(visitor, '/sign-in'),
    validateSearch: searchOf({ next: ownPath, ended: oneOf('yes') }),
    component: lazy(() => import('../visitor/sign-in.page.js'), 'SignInPage'),
  }),
  createRoute({
    ...below(visitor, '/sign-up'),
    validateSearch: searchOf({ invite: anyText }),
    component: lazy(() => import('../visitor/sign-up.page.js'), 'SignUpPage'),
  }),
  // Links in mails carry their token after `#`, which reaches no server or log.
  createRoute({
    ...below(visitor, '/sign-up/confirm'),
    component: lazy(() => import('../visitor/confirm-sign-up.page.js'), 'ConfirmSignUpPage'),
  }),
  createRoute({
    ...below(visitor, '/confirm-email'),
    component: lazy(() => import('../visitor/confirm-email.page.js'), 'ConfirmEmailPage'),
  }),
  createRoute({
    ...below(visitor, '/forgot-password'),
    component: lazy(() => import('../visitor/forgot-password.page.js'), 'ForgotPasswordPage'),
  }),
  createRoute({
    ...below(visitor, '/reset-password'),
    component: lazy(() => import('../visitor/reset-password.page.js'), 'ResetPasswordPage'),
  }),
] as const;
export const visitorPages = visitor.addChildren(ofVisitor);

const ofUser = [
  order,
  createRoute({
    ...below(user, '/overview'),
    component: lazy(() => import('../user/overview.page.js'), 'OverviewPage'),
  }),
  createRoute({
    ...below(user, '/tokens', 'tokens'),
    validateSearch: searchOf({
      cursor,
      /** The key whose rules are open. */
      key: anyText,
      new: oneOf('yes'),
    }),
    component: lazy(() => import('../user/tokens/tokens.page.js'), 'TokensPage'),
  }),
  createRoute({
    ...below(user, '/wallet', 'wallet', 'calls'),
    validateSearch: searchOf({
      tab: oneOf('statement', 'invites', 'details'),
      cursor,
      /** An initial amount, such as that of an unpaid order. */
      credits: anyText,
      ...statementSearch,
      /** The request that is open. */
      charge: anyText,
    }),
    component: lazy(() => import('../user/wallet/wallet.page.js'), 'WalletPage'),
  }),
  createRoute({
    ...below(user, '/playground', 'calls'),
    beforeLoad: notForViewers,
    validateSearch: searchOf({
      kind: oneOf('image', 'edit', 'video', '3d', 'chat', 'speech'),
      model: anyText,
      /** The key to use. */
      key: anyText,
      /** The video that was started here. */
      task: anyText,
      /** The task to take the prompt and settings from. */
      again: anyText,
    }),
    component: lazy(() => import('../user/playground/playground.page.js'), 'PlaygroundPage'),
  }),
  createRoute({
    ...below(user, '/library', 'calls'),
    validateSearch: searchOf({
      /** All by default. */
      kind: oneOf('video', '3d', 'image'),
      cursor,
      /** The task that is open. */
      task: anyText,
      /** The request that is open. */
      charge: anyText,
    }),
    component: lazy(() => import('../user/library/library.page.js'), 'LibraryPage'),
  }),
  createRoute({
    ...below(user, '/usage', 'calls', 'charts'),
    validateSearch: searchOf(usageSearch),
    component: lazy(() => import('../user/usage/usage.page.js'), 'UsagePage'),
  }),
  createRoute({
    ...below(user, '/logs', 'calls'),
    validateSearch: searchOf(logSearch),
    component: lazy(() => import('../user/logs/logs.page.js'), 'LogsPage'),
  }),
  createRoute({
    ...below(user, '/tasks', 'calls'),
    validateSearch: searchOf({
      kind: oneOf('video', '3d'),
      state: oneOf('running', 'queued', 'in_progress', 'completed', 'failed'),
      model: anyModel,
      keyId: anyId,
      cursor,
      /** The task that is open. */
      task: anyText,
    }),
    component: lazy(() => import('../user/tasks/tasks.page.js'), 'TasksPage'),
  }),
  createRoute({
    ...below(user, '/webhooks', 'webhooks'),
    component: lazy(() => import('../user/webhooks/webhooks.page.js'), 'WebhooksPage'),
  }),
  createRoute({
    ...below(user, '/webhooks/$endpointId', 'webhooks'),
    validateSearch: searchOf({
      state: oneOf('pending', 'delivered', 'failed'),
      cursor,
      /** The delivery that is open. */
      delivery: anyText,
    }),
    component: lazy(() => import('../user/webhooks/endpoint.page.js'), 'EndpointPage'),
  }),
  createRoute({
    ...below(user, '/tickets', 'tickets'),
    validateSearch: searchOf({ state: oneOf(...ticketStages), kind: oneOf(...ticketTypes), cursor }),
    component: lazy(() => import('../user/tickets/tickets.page.js'), 'TicketsPage'),
  }),
  createRoute({
    ...below(user, '/tickets/new', 'tickets'),
    beforeLoad: notForViewers,
    validateSearch: searchOf({
      kind: oneOf(...ticketTypes),
      /** The charge that it is about. */
      charge: anyText,
    }),
    component: lazy(() => import('../user/tickets/new-ticket.page.js'), 'NewTicketPage'),
  }),
  createRoute({
    ...below(user, '/tickets/$ticketId', 'tickets'),
    component: lazy(() => import('../user/tickets/ticket.page.js'), 'TicketPage'),
  }),
  createRoute({
    ...below(user, '/account', 'account'),
    beforeLoad: notForViewers,
    component: lazy(() => import('../user/account/account.page.js'), 'AccountPage'),
  }),
  createRoute({
    ...below(user, '/privacy', 'privacy'),
    beforeLoad: notForViewers,
    validateSearch: searchOf({ cursor }),
    component: lazy(() => import('../user/privacy/privacy.page.js'), 'PrivacyPage'),
  }),
] as const;
export const userPages = user.addChildren(ofUser);
