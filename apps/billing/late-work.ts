import type { ResolveCommand } from '#ledger/charges/charge.js';
import type { Logger } from '#platform/logging.js';
import type { BillingMetrics } from './billing.metrics.js';
import { HasParts } from '#platform/has-parts.js';

/** Reports work that was delivered after its charge was released: the operator bears its cost. */
export class LateWork extends HasParts<{ readonly metrics: BillingMetrics; readonly log: Logger }> {
  note({ chargeId, accountId, channel }: ResolveCommand): void {
    this.metrics.lateSuccesses.inc();
    this.log.warn({ chargeId, accountId, channel }, 'work was delivered after its charge had been released');
  }
}
