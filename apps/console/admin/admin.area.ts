import { createRoute } from '@tanstack/react-router';
import { onlyFor, textsOf } from '../shell/access.js';
import { rootRoute } from '../shell/root.route.js';

/** What is sold, at what price and through whom, and who may change it. */
export const adminArea = createRoute({
  getParentRoute: () => rootRoute,
  path: '/admin',
  beforeLoad: onlyFor('admin'),
  loader: textsOf('admin'),
});
