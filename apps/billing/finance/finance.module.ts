import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type pg from 'pg';
import { OutboxRelay } from '#bus/outbox.js';
import { buildNextSnapshot } from '#ledger/balance-snapshots.js';
import type { Logger } from '#platform/logging.js';
import { Loop } from '#platform/loop.js';
import type { Registry } from '#platform/metrics.js';
import type { BillingConfig } from '../billing.config.js';
import { CONFIG, LOG, POOL, REGISTRY } from '../billing.tokens.js';
import { ChainController } from './chain.controller.js';
import { ChainLoop } from './chain.loop.js';
import { ControlsController } from './controls.controller.js';
import { CostLoop } from './cost.loop.js';
import { CostsController } from './costs.controller.js';
import { DeferredRevenueController } from './deferred-revenue.controller.js';
import { LedgerController } from './ledger.controller.js';
import { RecognitionLoop } from './recognition.loop.js';
import { Reconciler } from './reconciler.loop.js';
import { RevenueController } from './revenue.controller.js';
import { TransactionController } from './transaction.controller.js';
import { ChargesTasksController } from './charges-tasks.controller.js';
import { WorkReportsController } from './work-reports.controller.js';

/** Stores the balances of each day once it is over, behind the postings. */
@Injectable()
class SnapshotLoop implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop: Loop;

  constructor(@Inject(POOL) pool: pg.Pool, @Inject(CONFIG) config: BillingConfig, @Inject(LOG) log: Logger) {
    this.loop = new Loop({
      name: 'ledger-snapshots',
      intervalMs: config.ledgerSnapshotIntervalMs,
      log,
      round: async () => (await buildNextSnapshot(pool)) !== null,
    });
  }

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }
}

/** The books, as finance reads them. */
@Module({
  controllers: [
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
    { provide: Reconciler, useFactory: newReconciler, inject: [POOL, OutboxRelay, CONFIG, LOG, REGISTRY] },
    ChainLoop,
    CostLoop,
    RecognitionLoop,
    SnapshotLoop,
  ],
})
export class FinanceModule {}

type ReconcilerInputs = [pg.Pool, OutboxRelay, BillingConfig, Logger, Registry];

function newReconciler(...[pool, relay, config, log, registry]: ReconcilerInputs): Reconciler {
  return new Reconciler({ pool, relay, config: config.reconcile, log, registry });
}
