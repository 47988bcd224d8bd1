import type pg from 'pg';
import type { ResolveCommand, Used } from '#ledger/charges/charge.js';
import { recordLateDelivery } from '#ledger/charges/late-delivery.js';
import type { Logger } from '#platform/logging.js';
import type { BillingMetrics } from './billing.metrics.js';

export interface LateWorkParts {
  readonly pool: pg.Pool;
  readonly metrics: BillingMetrics;
  readonly log: Logger;
}

/** Records and reports work that was delivered after its charge was released: the operator bears its cost. */
export class LateWork {
  constructor(private readonly parts: LateWorkParts) {}

  async record(command: ResolveCommand, used: Used): Promise<void> {
    const { pool, metrics, log } = this.parts;
    if (!(await recordLateDelivery(pool, command, used))) return;
    metrics.lateSuccesses.inc();
    const { chargeId, accountId, channel } = command;
    log.warn({ chargeId, accountId, channel }, 'work was delivered after its charge had been released');
  }
}
