import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ApprovalService } from '#approvals/approval.service.js';
import { AdjustmentService } from '#finance/adjustments/adjustment.service.js';
import { AdjustmentsController } from './adjustments.controller.js';
import { provided } from '#platform/wiring.js';

/** Corrections of balances by people: adjustments, reversals and write-offs. */
@Module({
  controllers: [AdjustmentsController],
  providers: [provided(AdjustmentService, { source: DataSource, approvals: ApprovalService })],
})
export class AdjustmentsModule {}
