import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ApprovalDesk } from '../approvals/approval.desk.js';
import { AdjustmentDesk } from './adjustment.desk.js';
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
