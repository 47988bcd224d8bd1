import { ProgramReporter } from '#bus/program-reporter.js';
import { groups } from '#bus/topics.js';
import type { BillingModuleOptions } from './billing.options.js';

/** What billing reports beyond what every program does. All count from its start and should stay 0. */
interface BillingReport {
  /** Charges of ended tasks that the repair had to resolve. */
  repairs: number;
  /** Holds that nothing resolved before their deadline. */
  holdsSwept: number;
  /** Work that was delivered after its charge had been released. */
  lateSuccesses: number;
}

const REPAIRS = 'tollgate_repairs_total';
const HOLDS_SWEPT = 'tollgate_holds_swept_total';
const LATE_SUCCESSES = 'tollgate_late_success_total';

/** Reports the state of a billing process to the console. */
export function billingReporter(
  options: Pick<BillingModuleOptions, 'pool' | 'registry' | 'log' | 'config'>,
): ProgramReporter {
  return new ProgramReporter(options, {
    program: 'billing',
    intervalMs: options.config.reportMs,
    groups: [groups.billing],
    metrics: [REPAIRS, HOLDS_SWEPT, LATE_SUCCESSES],
    measure: (window): BillingReport => ({
      repairs: window.value(REPAIRS),
      holdsSwept: window.value(HOLDS_SWEPT),
      lateSuccesses: window.value(LATE_SUCCESSES),
    }),
  });
}
