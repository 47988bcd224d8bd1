import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ApprovalService } from '#approvals/approval.service.js';
import { AdjustmentService } from '#finance/adjustments/adjustment.service.js';
import { AdjustmentsController } from './adjustments.controller.js';

/** Corrections of balances by people: adjustments, reversals and write-offs. */
@Module({
  controllers: [AdjustmentsController],
  providers: [
    {
      provide: AdjustmentService,
      useFactory: (source: DataSource, approvals: ApprovalService) =>
        new AdjustmentService({ source, approvals }),
      inject: [DataSource, ApprovalService],
    },
  ],
})
export class AdjustmentsModule {}
