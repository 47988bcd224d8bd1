import { Global, Module } from '@nestjs/common';
import { ApprovalDesk } from '#approvals/approval.service.js';
import { ApprovalsController } from './approvals.controller.js';
import { provided } from '#platform/wiring.js';
import { DataSource } from 'typeorm';

/** Second signatures, for every room whose work needs two people above a limit. */
@Global()
@Module({
  controllers: [ApprovalsController],
  providers: [provided(ApprovalDesk, { source: DataSource })],
  exports: [ApprovalDesk],
})
export class ApprovalsModule {}
