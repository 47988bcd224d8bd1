import { Global, Module } from '@nestjs/common';
import { ApprovalDesk } from './approval.desk.js';
import { ApprovalsController } from './approvals.controller.js';

/** Second signatures, for every room whose work needs two people above a limit. */
@Global()
@Module({ controllers: [ApprovalsController], providers: [ApprovalDesk], exports: [ApprovalDesk] })
export class ApprovalsModule {}
