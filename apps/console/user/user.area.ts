import { createRoute } from '@tanstack/react-router';
import { onlyFor, textsOf } from '../shell/access.js';
import { rootRoute } from '../shell/root.route.js';

/** What belongs to the account of the person who is signed in. */
export const userArea = createRoute({
  getParentRoute: () => rootRoute,
  id: 'user',
  beforeLoad: onlyFor('user'),
  loader: textsOf('user'),
});
