import { Inject, Injectable, Module, type OnModuleInit } from '@nestjs/common';
import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { recordFact } from '#identity/installation.js';
import { recordLimit } from '#ledger/outflow.js';
import type { BillingConfig } from '../billing.config.js';
import { CONFIG, POOL } from '../billing.tokens.js';

/** What this program was started with is what everybody goes by, the command line too. */
@Injectable()
class DutiesRecord implements OnModuleInit {
  constructor(
    @Inject(POOL) private readonly pool: pg.Pool,
    @Inject(CONFIG) private readonly config: BillingConfig,
  ) {}

  async onModuleInit(): Promise<void> {
    const { duties, payments } = this.config;
    await recordLimit(this.pool, 'charge-refund', duties.refundLimit);
    await recordLimit(this.pool, 'topup-refund', duties.topupRefundLimit);
    await recordLimit(this.pool, 'manual-topup', duties.manualTopupLimit);
    await recordLimit(this.pool, 'adjustment', duties.adjustmentLimit);
    await recordLimit(this.pool, 'price-change-percent', BigInt(duties.priceChangePercent));
    await inTransaction(this.pool, async (client) => {
      await recordFact(client, 'one-person', duties.onePerson);
      await recordFact(client, 'played-payments', payments.sandbox !== null && payments.stripe === null);
    });
  }
}

/** What one person may do alone. */
@Module({ providers: [DutiesRecord] })
export class DutiesModule {}
