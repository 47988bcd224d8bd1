import { IconKey, IconLayoutDashboard, IconWallet } from '@tabler/icons-react';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { NavGroup } from '../shell/navigation.js';
import { accountEntries, accountPages } from './account.routes.js';
import { callEntries, callPages } from './calls.routes.js';
import { tokenPages } from './tokens/tokens.routes.js';
import { userArea } from './user.area.js';
import { walletPages } from './wallet/wallet.routes.js';

const overview = createRoute({
  getParentRoute: () => userArea,
  path: '/overview',
  component: lazyRouteComponent(() => import('./overview.page.js'), 'OverviewPage'),
});

export const userPages = userArea.addChildren([
  overview,
  ...tokenPages,
  ...walletPages,
  ...callPages,
  ...accountPages,
]);

export const userNavigation: NavGroup = {
  label: 'account',
  entries: [
    { to: '/overview', label: 'overview', icon: IconLayoutDashboard, roles: ['user'] },
    { to: '/tokens', label: 'tokens', icon: IconKey, roles: ['user'] },
    { to: '/wallet', label: 'wallet', icon: IconWallet, roles: ['user'] },
    ...callEntries,
    ...accountEntries,
  ],
};
