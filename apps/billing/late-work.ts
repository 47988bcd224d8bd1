import type { ResolveCommand } from '#ledger/charges/charge.js';
import type { Logger } from '#platform/logging.js';
import type { BillingMetrics } from './billing.metrics.js';

/** Reports work that was delivered after its charge was released: the operator bears its cost. */
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
