import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type pg from 'pg';
import { DataSource } from 'typeorm';
import { ProgramReporter } from '#bus/program-reporter.js';
import type { Logger } from '#platform/logging.js';
import type { Registry } from '#platform/metrics.js';
import type { BillingConfig } from '../billing.config.js';
import { CONFIG, LOG, POOL, REGISTRY } from '../billing.tokens.js';
import { billingReporter } from './billing.report.js';
import { ChannelTests } from './channel-tests.js';
import { ProgramReader } from './program.reader.js';
import { ProgramsController } from './programs.controller.js';

@Injectable()
class Reports implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(
    @Inject(ProgramReporter) private readonly reporter: ProgramReporter,
    @Inject(ChannelTests) private readonly tests: ChannelTests,
  ) {}

  onApplicationBootstrap(): void {
    this.reporter.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.reporter.stop();
    await this.tests.close();
  }
}

/** The programs of the house and the channels that they use, for administrators. */
@Module({
  controllers: [ProgramsController],
  providers: [
    {
      provide: ProgramReporter,
      inject: [POOL, REGISTRY, LOG, CONFIG],
      useFactory: (pool: pg.Pool, registry: Registry, log: Logger, config: BillingConfig) =>
        billingReporter({ pool, registry, log, config }),
    },
    {
      provide: ProgramReader,
      inject: [POOL, CONFIG],
      useFactory: (pool: pg.Pool, config: BillingConfig) => new ProgramReader(pool, config.console),
    },
    {
      provide: ChannelTests,
      inject: [POOL, DataSource, CONFIG],
      useFactory: (pool: pg.Pool, source: DataSource, config: BillingConfig) =>
        new ChannelTests(pool, source, { timeoutMs: config.console.channelTestMs, secrets: config.secrets }),
    },
    Reports,
  ],
})
export class ProgramsModule {}
