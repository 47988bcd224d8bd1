import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type pg from 'pg';
import { buildNextSnapshot } from '#ledger/balance-snapshots.js';
import type { Logger } from '#platform/logging.js';
import { Loop } from '#platform/loop.js';
import type { BillingConfig } from '../billing.config.js';
import { CONFIG, LOG, POOL } from '../billing.tokens.js';
import { LedgerController } from './ledger.controller.js';
import { TransactionController } from './transaction.controller.js';

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
@Module({ controllers: [LedgerController, TransactionController], providers: [SnapshotLoop] })
export class FinanceModule {}
