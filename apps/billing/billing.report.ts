import { ProgramReporter } from '#bus/program-reporter.js';
import { groups } from '#bus/topics.js';
import type { BillingModuleOptions } from './billing.options.js';

const REPAIRS = 'tollgate_repairs_total';
const HOLDS_SWEPT = 'tollgate_holds_swept_total';
const LATE_SUCCESSES = 'tollgate_late_success_total';

/** Reports the state of a billing process to the console. All of it counts from its start and should stay 0. */
export function billingReporter(
  options: Pick<BillingModuleOptions, 'pool' | 'registry' | 'log' | 'config'>,
): ProgramReporter {
  return new ProgramReporter(options, {
    program: 'billing',
    intervalMs: options.config.reportMs,
    groups: [groups.billing],
    metrics: [REPAIRS, HOLDS_SWEPT, LATE_SUCCESSES],
    measure: (window) => ({
      /** Charges of ended tasks that the repair had to resolve. */
      repairs: window.value(REPAIRS),
      /** Holds that nothing resolved before their deadline. */
      holdsSwept: window.value(HOLDS_SWEPT),
      /** Work that was delivered after its charge had been released. */
      lateSuccesses: window.value(LATE_SUCCESSES),
    }),
  });
}
