import { Module } from '@nestjs/common';
import { AdjustmentService } from '#finance/adjustments/adjustment.service.js';
import { provided, providedBy, running } from '#platform/wiring.js';
import { type Shared, SHARED, SHARED_WITH_APPROVALS } from '../control-plane.tokens.js';
import { AdjustmentsController } from '../adjustments/adjustments.controller.js';
import { booksJobs } from './books.jobs.js';
import { ChainController } from './chain.controller.js';
import { ChargesTasksController } from './charges-tasks.controller.js';
import { ControlsController } from './controls.controller.js';
import { CostsController } from './costs.controller.js';
import { DeferredRevenueController } from './deferred-revenue.controller.js';
import { LedgerController } from './ledger.controller.js';
import { Reconciler } from './reconciler.job.js';
import { RevenueController } from './revenue.controller.js';
import { TransactionController } from './transaction.controller.js';
import { WorkReportsController } from './work-reports.controller.js';

@Module({
  controllers: [
    AdjustmentsController,
    ChainController,
    ControlsController,
    CostsController,
    DeferredRevenueController,
    RevenueController,
    LedgerController,
    TransactionController,
    ChargesTasksController,
    WorkReportsController,
  ],
  providers: [
    provided(AdjustmentService, SHARED_WITH_APPROVALS),
    providedBy(
      Reconciler,
      ({ config, ...parts }: Shared) => new Reconciler({ ...parts, config: config.reconcile }),
      SHARED,
    ),
    running(Reconciler),
    ...booksJobs,
  ],
})
export class FinanceModule {}
