import { Inject, Injectable, Module, type OnModuleInit } from '@nestjs/common';
import type pg from 'pg';
import { DataSource } from 'typeorm';
import { recordAloneLimit } from '#ledger/alone-limit.js';
import { ApprovalDesk } from '../approvals/approval.desk.js';
import type { BillingConfig } from '../billing.config.js';
import { CONFIG, POOL } from '../billing.tokens.js';
import { AdjustmentDesk } from './adjustment.desk.js';
import { AdjustmentsController } from './adjustments.controller.js';

/** What this program was started with is what everybody goes by, the command line too. */
@Injectable()
class LimitRecord implements OnModuleInit {
  constructor(
    @Inject(POOL) private readonly pool: pg.Pool,
    @Inject(CONFIG) private readonly config: BillingConfig,
  ) {}

  async onModuleInit(): Promise<void> {
    await recordAloneLimit(this.pool, this.config.adjustmentLimit);
  }
}

/** Corrections of balances by people: adjustments, reversals and write-offs. */
@Module({
  controllers: [AdjustmentsController],
  providers: [
    {
      provide: AdjustmentDesk,
      useFactory: (source: DataSource, approvals: ApprovalDesk) => new AdjustmentDesk({ source, approvals }),
      inject: [DataSource, ApprovalDesk],
    },
    LimitRecord,
  ],
})
export class AdjustmentsModule {}
