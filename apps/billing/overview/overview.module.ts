import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type pg from 'pg';
import type { Logger } from '#platform/logging.js';
import { Loop } from '#platform/loop.js';
import type { BillingConfig } from '../billing.config.js';
import { CONFIG, LOG, POOL } from '../billing.tokens.js';
import { OverviewController } from './overview.controller.js';
import { purgeUsageSums, sumUpUsage } from './usage-summary.js';

/** Old sums go away slowly; once an hour is enough. */
const PURGE_EVERY_MS = 3_600_000;

/** Keeps the sums behind overviews up to date, behind the postings. */
@Injectable()
class UsageSumsLoop implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly sums: Loop;
  private readonly purge: Loop;

  constructor(@Inject(POOL) pool: pg.Pool, @Inject(CONFIG) config: BillingConfig, @Inject(LOG) log: Logger) {
    const intervalMs = config.console.usageSummaryMs;
    this.sums = new Loop({
      ...{ name: 'usage-sums', intervalMs, log },
      round: (signal) => sumUpUsage(pool, signal),
    });
    this.purge = new Loop({
      ...{ name: 'usage-sums-purge', intervalMs: PURGE_EVERY_MS, log },
      round: () => purgeUsageSums(pool),
    });
  }

  onApplicationBootstrap(): void {
    this.sums.start();
    this.purge.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.sums.stop(), this.purge.stop()]);
  }
}

/** An account at a glance. */
@Module({ controllers: [OverviewController], providers: [UsageSumsLoop] })
export class OverviewModule {}
