import { Module } from '@nestjs/common';
import { BankService } from '#finance/provider-reports/bank/bank.service.js';
import { LineBookings } from '#finance/provider-reports/line-booking.js';
import { LineService } from '#finance/provider-reports/line.service.js';
import { ProviderReports } from '#finance/provider-reports/provider-reports.js';
import { ReportService } from '#finance/provider-reports/report.service.js';
import { provided, running } from '#platform/wiring.js';
import { PaymentNotices } from '#payments/payment.notices.js';
import { PaymentInbox } from '#payments/payment.inbox.js';
import { PaymentsModule } from '../payments/payments.module.js';
import { SHARED, SHARED_WITH_APPROVALS } from '../control-plane.tokens.js';
import { ReconciliationController } from './reconciliation.controller.js';
import { ReportsController } from './reports.controller.js';
import { LinesController } from './lines.controller.js';

/** Reports of payment providers and banks, and our books against them. */
@Module({
  imports: [PaymentsModule],
  controllers: [ReconciliationController, ReportsController, LinesController],
  providers: [
    provided(ProviderReports, { ...SHARED, notices: PaymentNotices }),
    running(ProviderReports),
    provided(ReportService, { ...SHARED, reports: ProviderReports }),
    provided(LineService, { ...SHARED_WITH_APPROVALS, inbox: PaymentInbox }),
    provided(LineBookings, { ...SHARED_WITH_APPROVALS, inbox: PaymentInbox }),
    provided(BankService, SHARED),
  ],
})
export class ReconciliationModule {}
