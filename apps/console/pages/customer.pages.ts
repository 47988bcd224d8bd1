import { createRoute, lazyRouteComponent as lazy, redirect } from '@tanstack/react-router';
import { families, ticketStages, ticketTypes } from '../api/enumerations.js';
import { notForViewers, onlyFor, textsOf, textsOfSession } from '../shell/access.js';
import { currentSession } from '../shell/session.js';
import { anyId, anyModel, anyText, cursor, oneOf, ownPath, searchOf } from '../ui/search.js';
import { logSearch } from '../user/logs/log-search.js';
import { usageSearch } from '../user/usage/usage-search.js';
import { statementSearch } from '../user/wallet/statement-search.js';
import { rootRoute } from './root.route.js';

/** Pages for everybody, signed in or not. */
const visitor = createRoute({
  getParentRoute: () => rootRoute,
  id: 'visitor',
  loader: textsOf('visitor'),
});

const landing = createRoute({
  getParentRoute: () => visitor,
  path: '/',
  // Whoever is signed in goes on where their work begins; they find this content at /connect.
  beforeLoad: async (): Promise<void> => {
    const session = await currentSession();
    if (!session) return;
    const { homeOf } = await import('../shell/navigation/navigation.js');
    throw redirect({ to: homeOf(session) });
  },
  component: lazy(() => import('../visitor/landing.page.js'), 'LandingPage'),
});

/** What belongs to the account of the person who is signed in. */
const user = createRoute({
  getParentRoute: () => rootRoute,
  id: 'user',
  beforeLoad: onlyFor('user'),
  loader: textsOf('user'),
});

const order = createRoute({
  getParentRoute: () => user,
  path: '/topups/$orderId',
  // Stripe leads back here with a bare `?paid`.
  validateSearch: (given: Record<string, unknown>): { paid?: string } =>
    'paid' in given ? { paid: 'yes' } : {},
  loader: textsOf('wallet'),
  component: lazy(() => import('../user/wallet/order.page.js'), 'OrderPage'),
});

const ofVisitor = [
  landing,
  createRoute({
    getParentRoute: () => visitor,
    path: '/marketplace',
    validateSearch: searchOf({
      text: anyText,
      family: oneOf(...families),
      vendor: anyText,
      group: anyText,
      sort: oneOf('model', '-model', 'vendor', '-vendor', 'price', '-price'),
      view: oneOf('cards', 'table'),
      /** The model whose details were open here, before it had a page. */
      model: anyText,
    }),
    component: lazy(() => import('../visitor/marketplace.page.js'), 'MarketplacePage'),
  }),
  createRoute({
    getParentRoute: () => visitor,
    path: '/marketplace/$model',
    loader: textsOf('models'),
    component: lazy(() => import('../visitor/model.page.js'), 'ModelPage'),
  }),
  createRoute({
    getParentRoute: () => visitor,
    path: '/connect',
    loader: textsOfSession('calls'),
    component: lazy(() => import('../visitor/connect.page.js'), 'ConnectPage'),
  }),
  createRoute({
    getParentRoute: () => visitor,
    path: '/status',
    loader: textsOf('models'),
    component: lazy(() => import('../visitor/status.page.js'), 'StatusPage'),
  }),
  createRoute({
    getParentRoute: () => visitor,
    path: '/retention',
    loader: textsOf('privacy'),
    component: lazy(() => import('../visitor/retention.page.js'), 'RetentionPage'),
  }),
  createRoute({
    getParentRoute: () => visitor,
    path: '/sign-in',
    validateSearch: searchOf({ next: ownPath, ended: oneOf('yes') }),
    component: lazy(() => import('../visitor/sign-in.page.js'), 'SignInPage'),
  }),
  createRoute({
    getParentRoute: () => visitor,
    path: '/sign-up',
    validateSearch: searchOf({ invite: anyText }),
    component: lazy(() => import('../visitor/sign-up.page.js'), 'SignUpPage'),
  }),
  // The links of mails carry their token behind a `#`, which reaches no server and no log.
  createRoute({
    getParentRoute: () => visitor,
    path: '/sign-up/confirm',
    component: lazy(() => import('../visitor/confirm-sign-up.page.js'), 'ConfirmSignUpPage'),
  }),
  createRoute({
    getParentRoute: () => visitor,
    path: '/confirm-email',
    component: lazy(() => import('../visitor/confirm-email.page.js'), 'ConfirmEmailPage'),
  }),
  createRoute({
    getParentRoute: () => visitor,
    path: '/forgot-password',
    component: lazy(() => import('../visitor/forgot-password.page.js'), 'ForgotPasswordPage'),
  }),
  createRoute({
    getParentRoute: () => visitor,
    path: '/reset-password',
    component: lazy(() => import('../visitor/reset-password.page.js'), 'ResetPasswordPage'),
  }),
] as const;
export const visitorPages = visitor.addChildren(ofVisitor);

const ofUser = [
  order,
  createRoute({
    getParentRoute: () => user,
    path: '/overview',
    component: lazy(() => import('../user/overview.page.js'), 'OverviewPage'),
  }),
  createRoute({
    getParentRoute: () => user,
    path: '/tokens',
    loader: textsOf('tokens'),
    validateSearch: searchOf({
      cursor,
      /** The key whose rules are open. */
      key: anyText,
      new: oneOf('yes'),
    }),
    component: lazy(() => import('../user/tokens/tokens.page.js'), 'TokensPage'),
  }),
  createRoute({
    getParentRoute: () => user,
    path: '/wallet',
    loader: textsOf('wallet', 'calls'),
    validateSearch: searchOf({
      tab: oneOf('statement', 'invites', 'details'),
      cursor,
      /** An amount to begin with, such as that of an order that was not paid. */
      credits: anyText,
      ...statementSearch,
      /** The request that is open. */
      charge: anyText,
    }),
    component: lazy(() => import('../user/wallet/wallet.page.js'), 'WalletPage'),
  }),
  createRoute({
    getParentRoute: () => user,
    path: '/playground',
    beforeLoad: notForViewers,
    loader: textsOf('calls'),
    validateSearch: searchOf({
      kind: oneOf('image', 'edit', 'video', '3d', 'chat', 'speech'),
      model: anyText,
      /** The key that calls are made with. */
      key: anyText,
      /** The video that was begun here. */
      task: anyText,
      /** The task whose prompt and settings the form begins with. */
      again: anyText,
    }),
    component: lazy(() => import('../user/playground/playground.page.js'), 'PlaygroundPage'),
  }),
  createRoute({
    getParentRoute: () => user,
    path: '/library',
    loader: textsOf('calls'),
    validateSearch: searchOf({
      /** The newest of all when left out. */
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
    getParentRoute: () => user,
    path: '/usage',
    loader: textsOf('calls', 'charts'),
    validateSearch: searchOf(usageSearch),
    component: lazy(() => import('../user/usage/usage.page.js'), 'UsagePage'),
  }),
  createRoute({
    getParentRoute: () => user,
    path: '/logs',
    loader: textsOf('calls'),
    validateSearch: searchOf(logSearch),
    component: lazy(() => import('../user/logs/logs.page.js'), 'LogsPage'),
  }),
  createRoute({
    getParentRoute: () => user,
    path: '/tasks',
    loader: textsOf('calls'),
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
    getParentRoute: () => user,
    path: '/webhooks',
    loader: textsOf('webhooks'),
    component: lazy(() => import('../user/webhooks/webhooks.page.js'), 'WebhooksPage'),
  }),
  createRoute({
    getParentRoute: () => user,
    path: '/webhooks/$endpointId',
    loader: textsOf('webhooks'),
    validateSearch: searchOf({
      state: oneOf('pending', 'delivered', 'failed'),
      cursor,
      /** The delivery that is open. */
      delivery: anyText,
    }),
    component: lazy(() => import('../user/webhooks/endpoint.page.js'), 'EndpointPage'),
  }),
  createRoute({
    getParentRoute: () => user,
    path: '/tickets',
    loader: textsOf('tickets'),
    validateSearch: searchOf({ state: oneOf(...ticketStages), kind: oneOf(...ticketTypes), cursor }),
    component: lazy(() => import('../user/tickets/tickets.page.js'), 'TicketsPage'),
  }),
  createRoute({
    getParentRoute: () => user,
    path: '/tickets/new',
    beforeLoad: notForViewers,
    loader: textsOf('tickets'),
    validateSearch: searchOf({
      kind: oneOf(...ticketTypes),
      /** What it is about. */
      charge: anyText,
    }),
    component: lazy(() => import('../user/tickets/new-ticket.page.js'), 'NewTicketPage'),
  }),
  createRoute({
    getParentRoute: () => user,
    path: '/tickets/$ticketId',
    loader: textsOf('tickets'),
    component: lazy(() => import('../user/tickets/ticket.page.js'), 'TicketPage'),
  }),
  createRoute({
    getParentRoute: () => user,
    path: '/account',
    beforeLoad: notForViewers,
    loader: textsOf('account'),
    component: lazy(() => import('../user/account/account.page.js'), 'AccountPage'),
  }),
  createRoute({
    getParentRoute: () => user,
    path: '/privacy',
    beforeLoad: notForViewers,
    loader: textsOf('privacy'),
    validateSearch: searchOf({ cursor }),
    component: lazy(() => import('../user/privacy/privacy.page.js'), 'PrivacyPage'),
  }),
] as const;
export const userPages = user.addChildren(ofUser);
