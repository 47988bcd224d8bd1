import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { textsOf } from '../../shell/access.js';
import { cursor, oneOf, searchOf, anyText } from '../../ui/search.js';
import { userArea } from '../user.area.js';

const tokens = createRoute({
  getParentRoute: () => userArea,
  path: '/tokens',
  validateSearch: searchOf({
    cursor,
    /** The key whose rules are open. */
    key: anyText,
    new: oneOf('yes'),
  }),
  loader: textsOf('tokens'),
  component: lazyRouteComponent(() => import('./tokens.page.js'), 'TokensPage'),
});

export const tokenPages = [tokens] as const;
