import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { BankService } from '#finance/provider-reports/bank/bank.service.js';
import { LineBookings } from '#finance/provider-reports/line-booking.js';
import { LineService } from '#finance/provider-reports/line.service.js';
import { ProviderReports } from '#finance/provider-reports/provider-reports.js';
import { ReportService } from '#finance/provider-reports/report.service.js';
import { provided, running } from '#platform/wiring.js';
import { PaymentNotices } from '#payments/payment.notices.js';
import { PaymentInbox } from '#payments/payment.inbox.js';
import { ApprovalService } from '#approvals/approval.service.js';
import { PaymentsModule } from '../payments/payments.module.js';
import { CONTROL_PLANE_CONFIG, LOG, POOL } from '../control-plane.tokens.js';
import { ReconciliationController } from './reconciliation.controller.js';
import { ReportsController } from './reports.controller.js';
import { LinesController } from './lines.controller.js';

/** Reports of payment providers and banks, and our books against them. */
@Module({
  imports: [PaymentsModule],
  controllers: [ReconciliationController, ReportsController, LinesController],
  providers: [
    provided(ProviderReports, {
      pool: POOL,
      config: CONTROL_PLANE_CONFIG,
      log: LOG,
      notices: PaymentNotices,
    }),
    running(ProviderReports),
    provided(ReportService, { pool: POOL, reports: ProviderReports }),
    provided(LineService, {
      pool: POOL,
      inbox: PaymentInbox,
      source: DataSource,
      approvals: ApprovalService,
    }),
    provided(LineBookings, { source: DataSource, approvals: ApprovalService, inbox: PaymentInbox }),
    provided(BankService, { pool: POOL, config: CONTROL_PLANE_CONFIG }),
  ],
})
export class ReconciliationModule {}
