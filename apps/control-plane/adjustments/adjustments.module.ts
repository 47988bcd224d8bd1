import { Module } from '@nestjs/common';
import { AdjustmentService } from '#finance/adjustments/adjustment.service.js';
import { SHARED_WITH_APPROVALS } from '../control-plane.tokens.js';
import { AdjustmentsController } from './adjustments.controller.js';
import { provided } from '#platform/wiring.js';

/** Corrections of balances by people: adjustments, reversals and write-offs. */
@Module({
  controllers: [AdjustmentsController],
  providers: [provided(AdjustmentService, SHARED_WITH_APPROVALS)],
})
export class AdjustmentsModule {}
