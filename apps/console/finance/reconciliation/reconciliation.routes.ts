import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { textsOf } from '../../shell/access.js';
import { cursor, anyDay, oneOf, searchOf, anyText } from '../../ui/search.js';
import { financeArea } from '../finance.area.js';
import { reportProviders } from '../../api/enumerations.js';

const reconciliation = createRoute({
  getParentRoute: () => financeArea,
  path: '/reconciliation',
  loader: textsOf('reconciliation'),
  validateSearch: searchOf({
    tab: oneOf('payouts', 'bank', 'imports'),
    provider: oneOf(...reportProviders),
    /** Of whatever the part lists. */
    state: anyText,
    from: anyDay,
    to: anyDay,
    cursor,
    /** The provider's line that is open, as `provider:id`. */
    line: anyText,
  }),
  component: lazyRouteComponent(() => import('./reconciliation.page.js'), 'ReconciliationPage'),
});

export const reconciliationPages = [reconciliation] as const;
