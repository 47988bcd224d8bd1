import { createRoute } from '@tanstack/react-router';
import { onlyFor, textsOf } from '../shell/access.js';
import { rootRoute } from '../shell/root.route.js';

/** The desk of those who keep the books. */
export const financeArea = createRoute({
  getParentRoute: () => rootRoute,
  path: '/finance',
  beforeLoad: onlyFor('finance'),
  loader: textsOf('finance'),
});
