import type { ResolveCommand } from '#ledger/charges/charge.js';
import type { Logger } from '#platform/logging.js';
import type { BillingMetrics } from './billing.metrics.js';

/** Tells operators of work that came after its charge had been given back: they bear its cost. */
export class LateWork {
  constructor(private readonly parts: { readonly metrics: BillingMetrics; readonly log: Logger }) {}

  note({ chargeId, accountId, channel }: ResolveCommand): void {
    this.parts.metrics.lateSuccesses.inc();
    this.parts.log.warn(
      { chargeId, accountId, channel },
      'work was delivered after its charge had been released',
    );
  }
}
