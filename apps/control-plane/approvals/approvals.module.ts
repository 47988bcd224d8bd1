import { Global, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ApprovalService } from '#approvals/approval.service.js';
import { constructed } from '#platform/wiring.js';
import { ApprovalsController } from './approvals.controller.js';

/** Second signatures, for every module whose work needs two people above a limit. */
@Global()
@Module({
  controllers: [ApprovalsController],
  providers: [constructed(ApprovalService, DataSource)],
  exports: [ApprovalService],
})
export class ApprovalsModule {}
