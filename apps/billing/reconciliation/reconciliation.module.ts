import { Module } from '@nestjs/common';
import { PaymentsModule } from '../payments/payments.module.js';
import { BankDesk } from './bank.desk.js';
import { LineDesk } from './line.desk.js';
import { ProviderReports } from './provider-reports.loop.js';
import { ReconciliationController } from './reconciliation.controller.js';
import { ReportDesk } from './report.desk.js';
import { ReportsController } from './reports.controller.js';

/** Reports of payment providers and banks, and our books against them. */
@Module({
  imports: [PaymentsModule],
  controllers: [ReconciliationController, ReportsController],
  providers: [ProviderReports, ReportDesk, LineDesk, BankDesk],
})
export class ReconciliationModule {}
