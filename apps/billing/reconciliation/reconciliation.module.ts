import { Module } from '@nestjs/common';
import { PaymentsModule } from '../payments/payments.module.js';
import { BankDesk } from './bank.desk.js';
import { LineDesk } from './line.desk.js';
import { ProviderReports } from './provider-reports.loop.js';
import { ReconciliationController } from './reconciliation.controller.js';
import { ReportDesk } from './report.desk.js';
import { ReportsController } from './reports.controller.js';
import { provided, running } from '#platform/wiring.js';
import { CONFIG, LOG, POOL } from '../billing.tokens.js';
import { PaymentNotices } from '../payments/payment.notices.js';
import { PaymentInbox } from '../payments/payment.inbox.js';
import { DataSource } from 'typeorm';
import { ApprovalDesk } from '../approvals/approval.desk.js';

/** Reports of payment providers and banks, and our books against them. */
@Module({
  imports: [PaymentsModule],
  controllers: [ReconciliationController, ReportsController],
  providers: [
    provided(ProviderReports, { pool: POOL, config: CONFIG, log: LOG, notices: PaymentNotices }),
    running(ProviderReports),
    provided(ReportDesk, { pool: POOL, reports: ProviderReports }),
    provided(LineDesk, { pool: POOL, inbox: PaymentInbox, source: DataSource, approvals: ApprovalDesk }),
    provided(BankDesk, { pool: POOL, config: CONFIG }),
  ],
})
export class ReconciliationModule {}
