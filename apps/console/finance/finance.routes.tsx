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
import { bookPages } from './books/books.routes.js';
import { costPages } from './costs/costs.routes.js';
import { deskPages } from './desk/desk.routes.js';
import { financeArea } from './finance.area.js';
import { paymentPages } from './payments/payments.routes.js';
import { periodPages } from './periods/periods.routes.js';
import { reconciliationPages } from './reconciliation/reconciliation.routes.js';
import { reportPages } from './reports/reports.routes.js';

export const financePages = financeArea.addChildren([
  ...bookPages,
  ...reconciliationPages,
  ...paymentPages,
  ...periodPages,
  ...deskPages,
  ...reportPages,
  ...costPages,
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
