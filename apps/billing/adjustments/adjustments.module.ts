import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ApprovalDesk } from '../approvals/approval.desk.js';
import type { BillingConfig } from '../billing.config.js';
import { CONFIG } from '../billing.tokens.js';
import { AdjustmentDesk } from './adjustment.desk.js';
import { AdjustmentsController } from './adjustments.controller.js';

/** Corrections of balances by people: adjustments, reversals and write-offs. */
@Module({
  controllers: [AdjustmentsController],
  providers: [
    {
      provide: AdjustmentDesk,
      useFactory: (source: DataSource, approvals: ApprovalDesk, { adjustmentLimit: limit }: BillingConfig) =>
        new AdjustmentDesk({ source, approvals, limit }),
      inject: [DataSource, ApprovalDesk, CONFIG],
    },
  ],
})
export class AdjustmentsModule {}
