import { createRouter } from '@tanstack/react-router';
import { adminPages } from '../admin/admin.routes.js';
import { whenSignedOut } from '../api/client.js';
import { financePages } from '../finance/finance.routes.js';
import { operatorPages } from '../operator/operator.routes.js';
import { approvalPages, supportPages } from '../support/support.routes.js';
import { parseSearch, stringifySearch } from '../ui/search.js';
import { userPages } from '../user/user.routes.js';
import { visitorPages } from '../visitor/visitor.routes.js';
import { FaultPage, NotFoundPage } from './fault.page.js';
import { Layout } from './layout.js';
import { rootRoute } from './root.route.js';
import { leave } from './session.js';

rootRoute.update({
  component: Layout,
  errorComponent: FaultPage,
  notFoundComponent: NotFoundPage,
});

const routeTree = rootRoute.addChildren([
  visitorPages,
  userPages,
  supportPages,
  approvalPages,
  adminPages,
  financePages,
  operatorPages,
]);

export const router = createRouter({
  routeTree,
  // Inside the frame: those who may not see a page still see the way to others.
  defaultErrorComponent: FaultPage,
  defaultPreload: 'intent',
  scrollRestoration: true,
  parseSearch,
  stringifySearch,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

/** A session that ends sends people to sign in and back to where they were; pages for everybody just go on. */
whenSignedOut(() => {
  const isPublic = router.state.matches.some(({ routeId }) => routeId === '/visitor');
  const next = router.state.location.href;
  leave();
  if (!isPublic) void router.navigate({ to: '/sign-in', search: { next, ended: 'yes' } });
});
