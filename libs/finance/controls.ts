import type { Control } from './control.js';
import { chainControl, wholeChainControl } from './chain/chain.control.js';
import { adjustmentsControl } from './controls/adjustments.control.js';
import { chargesTasksControl } from './controls/charges-tasks.control.js';
import { frozenAccountsControl } from './controls/frozen-accounts.control.js';
import { holdsControl } from './controls/holds.control.js';
import { ledgerControl } from './controls/ledger.control.js';
import { deferredRevenueControl, lotsControl } from './controls/lots.control.js';
import { promotionControl } from './controls/promotion.control.js';
import { refundLatencyControl } from './controls/refund-latency.control.js';
import { costsControl } from './costs/costs.control.js';
import { closedPeriodsControl } from './periods/closed-periods.control.js';
import { bankControl } from './provider-reports/bank/bank.control.js';
import { paymentsControl } from './provider-reports/payments/payments.control.js';
import { payoutsControl } from './provider-reports/payments/payouts.control.js';
import { suspenseControl } from './provider-reports/suspense.control.js';
import { revenueControl } from './reports/revenue.control.js';

/** Every control, in the order in which people read them, one line each. */
export const controls: readonly Control[] = [
  // Money in.
  paymentsControl,
  payoutsControl,
  bankControl,
  suspenseControl,
  // Work.
  chargesTasksControl,
  holdsControl,
  refundLatencyControl,
  // Revenue and its costs.
  revenueControl,
  costsControl,
  promotionControl,
  deferredRevenueControl,
  lotsControl,
  // Balances and the books themselves.
  adjustmentsControl,
  frozenAccountsControl,
  closedPeriodsControl,
  ledgerControl,
  chainControl,
  wholeChainControl,
];
