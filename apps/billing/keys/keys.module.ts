import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type pg from 'pg';
import type { Clock } from '#platform/clock.js';
import type { Logger } from '#platform/logging.js';
import type { BillingConfig } from '../billing.config.js';
import { CLOCK, CONFIG, LOG, POOL } from '../billing.tokens.js';
import { KeyUse } from './key-use.js';
import { KeyController } from './key.controller.js';
import { KeyDesk } from './key.desk.js';
import { provided } from '#platform/wiring.js';
import { DataSource } from 'typeorm';
import { OutboxRelay } from '#bus/outbox.js';

@Injectable()
class KeyWork implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(@Inject(KeyUse) private readonly use: KeyUse) {}

  onApplicationBootstrap(): void {
    this.use.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.use.stop();
  }
}

/** API keys of accounts. */
@Module({
  controllers: [KeyController],
  providers: [
    KeyWork,
    provided(KeyDesk, { source: DataSource, relay: OutboxRelay, clock: CLOCK }),
    {
      provide: KeyUse,
      useFactory: (pool: pg.Pool, log: Logger, clock: Clock, config: BillingConfig) =>
        new KeyUse({ pool, log, clock, intervalMs: config.keyUseIntervalMs }),
      inject: [POOL, LOG, CLOCK, CONFIG],
    },
  ],
  exports: [KeyUse, KeyDesk],
})
export class KeysModule {}
