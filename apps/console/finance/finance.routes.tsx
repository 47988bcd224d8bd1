import {
  IconAdjustments,
  IconBuildingBank,
  IconCalendarCheck,
  IconChartBar,
  IconCoins,
  IconFileExport,
  IconHourglass,
  IconListCheck,
  IconReceipt2,
  IconScale,
  IconTrafficLights,
  IconTransform,
} from '@tabler/icons-react';
import type { NavGroup } from '../shell/navigation.js';
import { booksRoutes } from './books/books.routes.js';
import { costRoutes } from './costs/costs.routes.js';
import { deskRoutes } from './desk/desk.routes.js';
import { financeArea } from './finance.area.js';
import { paymentRoutes } from './payments/payments.routes.js';
import { periodRoutes } from './periods/periods.routes.js';
import { reconciliationRoutes } from './reconciliation/reconciliation.routes.js';
import { reportRoutes } from './reports/reports.routes.js';

export const financeRoutes = financeArea.addChildren([
  ...booksRoutes,
  ...reconciliationRoutes,
  ...paymentRoutes,
  ...periodRoutes,
  ...deskRoutes,
  ...reportRoutes,
  ...costRoutes,
]);

const roles = ['finance'] as const;

export const financeNavigation: NavGroup = {
  label: 'finance',
  entries: [
    { to: '/finance/books', label: 'books', icon: IconTrafficLights, roles },
    { to: '/finance/reconciliation', label: 'reconciliation', icon: IconListCheck, roles },
    { to: '/finance/payments', label: 'payments', icon: IconBuildingBank, roles },
    { to: '/finance/adjustments', label: 'adjustments', icon: IconAdjustments, roles },
    { to: '/finance/revenue', label: 'revenue', icon: IconChartBar, roles },
    { to: '/finance/deferred-revenue', label: 'deferredRevenue', icon: IconTransform, roles },
    { to: '/finance/work', label: 'holdsAndRefunds', icon: IconHourglass, roles },
    { to: '/finance/costs', label: 'costs', icon: IconCoins, roles },
    { to: '/finance/trial-balance', label: 'trialBalance', icon: IconScale, roles },
    { to: '/finance/ledger-accounts', label: 'ledgerAccounts', icon: IconReceipt2, roles },
    { to: '/finance/periods', label: 'periods', icon: IconCalendarCheck, roles },
    { to: '/finance/exports', label: 'exports', icon: IconFileExport, roles },
  ],
};
