import { Counter, type Registry } from '#platform/metrics.js';

/** What operators watch on billing beside the bus's and the engine's own metrics. */
export class BillingMetrics {
  readonly holdsSwept: Counter;
  /** Should stay 0: each one is an event that was lost on its way. */
  readonly repairs: Counter;
  /** Work delivered after its charge had been released: the customer pays nothing, the operator does. */
  readonly lateSuccesses: Counter;

  constructor(registry: Registry) {
    const registers = [registry];
    this.holdsSwept = new Counter({
      name: 'tollgate_holds_swept_total',
      help: 'Holds released because nothing ended them before their deadline.',
      registers,
    });
    this.repairs = new Counter({
      name: 'tollgate_repairs_total',
      help: 'Charges of ended tasks that the repair had to end. Should stay 0.',
      registers,
    });
    this.lateSuccesses = new Counter({
      name: 'tollgate_late_success_total',
      help: 'Work delivered after its charge had been released; the operator bears its cost.',
      registers,
    });
  }
}
