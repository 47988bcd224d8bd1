import { Counter, type Registry } from '#platform/metrics.js';

/** Billing's metrics, in addition to those of the bus and the engine. */
export class BillingMetrics {
  readonly holdsSwept: Counter;
  /** Should stay 0: each one is a lost event. */
  readonly repairs: Counter;
  /** Work delivered after its charge was released: the operator pays for it, not the customer. */
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
