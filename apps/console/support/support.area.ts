import { createRoute } from '@tanstack/react-router';
import { onlyFor, textsOf } from '../shell/access.js';
import { rootRoute } from '../shell/root.route.js';

/** Customers and what they ask for. */
export const supportArea = createRoute({
  getParentRoute: () => rootRoute,
  path: '/support',
  beforeLoad: onlyFor('support', 'admin'),
  loader: textsOf('support'),
});
