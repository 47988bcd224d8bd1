import { createRouter } from '@tanstack/react-router';
import { whenSignedOut } from '../api/client.js';
import { pages } from '../pages/pages.js';
import { rootRoute } from '../pages/root.route.js';
import { parseSearch, stringifySearch } from '../ui/search.js';
import { FaultPage } from './fault.page.js';
import { Layout } from './layout.js';
import { LazyNotFoundPage } from './late-parts.js';
import { leave } from './session.js';

rootRoute.update({
  component: Layout,
  errorComponent: FaultPage,
  notFoundComponent: LazyNotFoundPage,
});

export const router = createRouter({
  routeTree: pages,
  // Inside the frame, so that people who may not see a page can go to others.
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

/** When a session ends, people sign in and return to the page, unless it is public. */
whenSignedOut(() => {
  const isPublic = router.state.matches.some(({ routeId }) => routeId === '/visitor');
  const next = router.state.location.href;
  leave();
  const search = { next, ended: 'yes' } as const;
  if (!isPublic) void router.navigate({ to: '/sign-in', search, ignoreBlocker: true });
});
