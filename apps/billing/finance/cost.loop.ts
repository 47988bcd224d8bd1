import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type pg from 'pg';
import { accrueCosts } from '#finance/costs/accrual.js';
import { buildNextRevenueDay } from '#finance/reports/revenue-days.js';
import type { Logger } from '#platform/logging.js';
import { Loop } from '#platform/loop.js';
import type { BillingConfig } from '../billing.config.js';
import { CONFIG, LOG, POOL } from '../billing.tokens.js';

/** Tells what ended charges did cost, behind the hot path, and sums up what days that are over earned. */
@Injectable()
export class CostLoop implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop: Loop;

  constructor(@Inject(POOL) pool: pg.Pool, @Inject(CONFIG) config: BillingConfig, @Inject(LOG) log: Logger) {
    this.loop = new Loop({
      name: 'upstream-costs',
      intervalMs: config.costAccrualIntervalMs,
      log,
      round: async (signal) => {
        await accrueCosts(pool, { signal });
        return (await buildNextRevenueDay(pool)) !== null;
      },
    });
  }

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }
}
