import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ApprovalDesk } from '#approvals/approval.service.js';
import { AdjustmentDesk } from '#finance/adjustments/adjustment.service.js';
import { AdjustmentsController } from './adjustments.controller.js';

/** Corrections of balances by people: adjustments, reversals and write-offs. */
@Module({
  controllers: [AdjustmentsController],
  providers: [
    {
      provide: AdjustmentDesk,
      useFactory: (source: DataSource, approvals: ApprovalDesk) => new AdjustmentDesk({ source, approvals }),
      inject: [DataSource, ApprovalDesk],
    },
  ],
})
export class AdjustmentsModule {}
