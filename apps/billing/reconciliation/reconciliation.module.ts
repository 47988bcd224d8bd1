import { Module } from '@nestjs/common';
import { PaymentsModule } from '../payments/payments.module.js';
import { BankDesk } from './bank.desk.js';
import { LineDesk } from './line.desk.js';
import { ProviderReports } from './provider-reports.loop.js';
import { ReconciliationController } from './reconciliation.controller.js';
import { ReportDesk } from './report.desk.js';
import { ReportsController } from './reports.controller.js';
import { provided } from '#platform/wiring.js';
import { POOL, CONFIG } from '../billing.tokens.js';
import { PaymentInbox } from '../payments/payment.inbox.js';
import { DataSource } from 'typeorm';
import { ApprovalDesk } from '../approvals/approval.desk.js';

/** Reports of payment providers and banks, and our books against them. */
@Module({
  imports: [PaymentsModule],
  controllers: [ReconciliationController, ReportsController],
  providers: [
    ProviderReports,
    provided(ReportDesk, { pool: POOL, reports: ProviderReports }),
    provided(LineDesk, { pool: POOL, inbox: PaymentInbox, source: DataSource, approvals: ApprovalDesk }),
    provided(BankDesk, { pool: POOL, config: CONFIG }),
  ],
})
export class ReconciliationModule {}
