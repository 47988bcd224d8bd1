import { Global, Module } from '@nestjs/common';
import { ApprovalService } from '#approvals/approval.service.js';
import { provided } from '#platform/wiring.js';
import { SHARED } from '../control-plane.tokens.js';
import { ApprovalsController } from './approvals.controller.js';

/** Second signatures, for every module whose work needs two people above a limit. */
@Global()
@Module({
  controllers: [ApprovalsController],
  providers: [provided(ApprovalService, SHARED)],
  exports: [ApprovalService],
})
export class ApprovalsModule {}
