import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { textsOf } from '../../shell/access.js';
import { cursor, oneOf, searchOf, anyText } from '../../ui/search.js';
import { adminArea } from '../admin.area.js';
import { families } from '../../api/enumerations.js';

const prices = createRoute({
  getParentRoute: () => adminArea,
  path: '/prices',
  loader: textsOf('prices'),
  validateSearch: searchOf({
    tab: oneOf('groups', 'proposals'),
    text: anyText,
    family: oneOf(...families),
    state: oneOf('open'),
    cursor,
  }),
  component: lazyRouteComponent(() => import('./prices.page.js'), 'PricesPage'),
});

const timeLine = createRoute({
  getParentRoute: () => adminArea,
  path: '/prices/models/$model',
  loader: textsOf('prices'),
  component: lazyRouteComponent(() => import('./time-line.page.js'), 'TimeLinePage'),
});

const propose = createRoute({
  getParentRoute: () => adminArea,
  path: '/prices/propose',
  loader: textsOf('prices'),
  validateSearch: searchOf({
    /** What the first change is about. */
    model: anyText,
    group: anyText,
    kind: oneOf('multiplier', 'rule'),
    /** The proposal that is changed in place of making one. */
    revise: anyText,
  }),
  component: lazyRouteComponent(() => import('./propose.page.js'), 'ProposePage'),
});

const proposal = createRoute({
  getParentRoute: () => adminArea,
  path: '/prices/proposals/$proposalId',
  loader: textsOf('prices'),
  validateSearch: searchOf({ span: oneOf('day', 'week', 'month') }),
  component: lazyRouteComponent(() => import('./proposal.page.js'), 'ProposalPage'),
});

const importing = createRoute({
  getParentRoute: () => adminArea,
  path: '/prices/import',
  loader: textsOf('prices'),
  component: lazyRouteComponent(() => import('./import.page.js'), 'ImportPage'),
});

export const pricePages = [prices, timeLine, propose, proposal, importing] as const;
