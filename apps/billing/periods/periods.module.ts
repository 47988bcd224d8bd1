import { type BeforeApplicationShutdown, Inject, Injectable, Module } from '@nestjs/common';
import type pg from 'pg';
import { DataSource } from 'typeorm';
import type { Logger } from '#platform/logging.js';
import { ApprovalDesk } from '../approvals/approval.desk.js';
import type { BillingConfig } from '../billing.config.js';
import { CONFIG, LOG, POOL } from '../billing.tokens.js';
import { PeriodDesk } from './period.desk.js';
import { PeriodsController } from './periods.controller.js';
import { WaiverDesk } from './waiver.desk.js';

/** A close that runs when the program ends is given up, and the books are open again. */
@Injectable()
class PeriodsEnd implements BeforeApplicationShutdown {
  constructor(@Inject(PeriodDesk) private readonly desk: PeriodDesk) {}

  async beforeApplicationShutdown(): Promise<void> {
    await this.desk.stop();
  }
}

/** The close of periods. */
@Module({
  controllers: [PeriodsController],
  providers: [
    {
      provide: PeriodDesk,
      useFactory: (pool: pg.Pool, { periods: config, reconcile }: BillingConfig, log: Logger) =>
        new PeriodDesk({ pool, log, config, reconcile }),
      inject: [POOL, CONFIG, LOG],
    },
    {
      provide: WaiverDesk,
      useFactory: (source: DataSource, pool: pg.Pool, approvals: ApprovalDesk) =>
        new WaiverDesk({ source, pool, approvals }),
      inject: [DataSource, POOL, ApprovalDesk],
    },
    PeriodsEnd,
  ],
})
export class PeriodsModule {}
