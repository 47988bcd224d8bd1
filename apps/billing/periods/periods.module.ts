import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Module,
  type OnModuleInit,
} from '@nestjs/common';
import type pg from 'pg';
import { DataSource } from 'typeorm';
import { recordCloseGrace } from '#finance/periods/close-grace.js';
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

/** What this program was started with is what every close goes by, whoever asks for it and from where. */
@Injectable()
class GraceRecord implements OnModuleInit {
  constructor(
    @Inject(POOL) private readonly pool: pg.Pool,
    @Inject(CONFIG) private readonly config: BillingConfig,
  ) {}

  async onModuleInit(): Promise<void> {
    await recordCloseGrace(this.pool, this.config.reconcile.graceMs);
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
      useFactory: (
        source: DataSource,
        pool: pg.Pool,
        approvals: ApprovalDesk,
        { reconcile }: BillingConfig,
      ) => new WaiverDesk({ source, pool, approvals, limitMs: reconcile.limitMs }),
      inject: [DataSource, POOL, ApprovalDesk, CONFIG],
    },
    PeriodsEnd,
    GraceRecord,
  ],
})
export class PeriodsModule {}
