import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { textsOf } from '../../shell/access.js';
import { cursor, day, oneOf, searchOf, text } from '../../ui/search.js';
import { financeArea } from '../finance.area.js';

const reconciliation = createRoute({
  getParentRoute: () => financeArea,
  path: '/reconciliation',
  loader: textsOf('reconciliation'),
  validateSearch: searchOf({
    tab: oneOf('payouts', 'bank', 'imports'),
    provider: oneOf('stripe', 'sandbox'),
    /** Of whatever the part lists. */
    state: text,
    from: day,
    to: day,
    cursor,
    /** The provider's line that is open, as `provider:id`. */
    line: text,
  }),
  component: lazyRouteComponent(() => import('./reconciliation.page.js'), 'ReconciliationPage'),
});

export const reconciliationRoutes = [reconciliation] as const;
