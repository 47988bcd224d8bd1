import { Metrics } from '#platform/metrics.js';

/** Billing's metrics, in addition to those of the bus and the engine. */
export class BillingMetrics extends Metrics {
  readonly holdsSwept = this.counter(
    'tollgate_holds_swept_total',
    'Holds released because nothing ended them before their deadline.',
  );
  /** Should stay 0: each one is a lost event. */
  readonly repairs = this.counter(
    'tollgate_repairs_total',
    'Charges of ended tasks that the repair had to end. Should stay 0.',
  );
  /** Work delivered after its charge was released: the operator pays for it, not the customer. */
  readonly lateSuccesses = this.counter(
    'tollgate_late_success_total',
    'Work delivered after its charge had been released; the operator bears its cost.',
  );
}
