import { IconBuildingStore, IconPlugConnected } from '@tabler/icons-react';
import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { textsOf } from '../shell/access.js';
import type { NavGroup } from '../shell/navigation.js';
import { rootRoute } from '../shell/root.route.js';
import { currentSession } from '../shell/session.js';
import { oneOf, ownPath, searchOf, anyText } from '../ui/search.js';
import { families } from '../api/enumerations.js';

/** Pages for everybody, signed in or not. */
const area = createRoute({ getParentRoute: () => rootRoute, id: 'visitor', loader: textsOf('visitor') });

const landing = createRoute({
  getParentRoute: () => area,
  path: '/',
  // Signed-in users want their own overview; they find this content at /connect.
  beforeLoad: async () => {
    if (await currentSession()) throw redirect({ to: '/overview' });
  },
  component: lazyRouteComponent(() => import('./landing.page.js'), 'LandingPage'),
});

const connect = createRoute({
  getParentRoute: () => area,
  path: '/connect',
  component: lazyRouteComponent(() => import('./connect.page.js'), 'ConnectPage'),
});

const retention = createRoute({
  getParentRoute: () => area,
  path: '/retention',
  loader: textsOf('privacy'),
  component: lazyRouteComponent(() => import('./retention.page.js'), 'RetentionPage'),
});

const marketplace = createRoute({
  getParentRoute: () => area,
  path: '/marketplace',
  validateSearch: searchOf({
    text: anyText,
    family: oneOf(...families),
    vendor: anyText,
    group: anyText,
    sort: oneOf('model', '-model', 'vendor', '-vendor', 'price', '-price'),
    view: oneOf('cards', 'table'),
    /** The model whose details are open. */
    model: anyText,
  }),
  component: lazyRouteComponent(() => import('./marketplace.page.js'), 'MarketplacePage'),
});

const signIn = createRoute({
  getParentRoute: () => area,
  path: '/sign-in',
  validateSearch: searchOf({ next: ownPath, ended: oneOf('yes') }),
  component: lazyRouteComponent(() => import('./sign-in.page.js'), 'SignInPage'),
});

const signUp = createRoute({
  getParentRoute: () => area,
  path: '/sign-up',
  validateSearch: searchOf({ invite: anyText }),
  component: lazyRouteComponent(() => import('./sign-up.page.js'), 'SignUpPage'),
});

/** The links of mails carry their token behind a `#`, which reaches no server and no log. */
const confirmSignUp = createRoute({
  getParentRoute: () => area,
  path: '/sign-up/confirm',
  component: lazyRouteComponent(() => import('./confirm-sign-up.page.js'), 'ConfirmSignUpPage'),
});

const confirmEmail = createRoute({
  getParentRoute: () => area,
  path: '/confirm-email',
  component: lazyRouteComponent(() => import('./confirm-email.page.js'), 'ConfirmEmailPage'),
});

const forgotPassword = createRoute({
  getParentRoute: () => area,
  path: '/forgot-password',
  component: lazyRouteComponent(() => import('./forgot-password.page.js'), 'ForgotPasswordPage'),
});

const resetPassword = createRoute({
  getParentRoute: () => area,
  path: '/reset-password',
  component: lazyRouteComponent(() => import('./reset-password.page.js'), 'ResetPasswordPage'),
});

export const visitorPages = area.addChildren([
  landing,
  connect,
  retention,
  marketplace,
  signIn,
  signUp,
  confirmSignUp,
  confirmEmail,
  forgotPassword,
  resetPassword,
]);

/** For those who are signed in; visitors have links in the header. */
export const visitorNavigation: NavGroup = {
  label: 'models',
  entries: [
    { to: '/marketplace', label: 'marketplace', icon: IconBuildingStore, roles: ['user'] },
    { to: '/connect', label: 'connect', icon: IconPlugConnected, roles: ['user'] },
  ],
};
