import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type pg from 'pg';
import { SessionStore } from '#identity/session.store.js';
import type { Clock } from '#platform/clock.js';
import type { Logger } from '#platform/logging.js';
import type { BillingConfig } from '../billing.config.js';
import { CLOCK, CONFIG, LOG, POOL } from '../billing.tokens.js';
import { LiveController } from './live.controller.js';
import { LiveHub } from './live-hub.js';

@Injectable()
class LiveLife implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(@Inject(LiveHub) private readonly hub: LiveHub) {}

  onApplicationBootstrap(): void {
    this.hub.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.hub.stop();
  }
}

/** What changes on an account, told to the pages that are open. */
@Module({
  controllers: [LiveController],
  providers: [
    {
      provide: LiveHub,
      inject: [POOL, SessionStore, CLOCK, CONFIG, LOG],
      useFactory: (
        ...[pool, sessions, clock, config, log]: [pg.Pool, SessionStore, Clock, BillingConfig, Logger]
      ) => new LiveHub({ pool, sessions, clock, config: config.console.live, log }),
    },
    LiveLife,
  ],
})
export class LiveModule {}
