import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type pg from 'pg';
import { recogniseNext, recognitionProgress, retryStuck } from '#ledger/recognition.js';
import type { Logger } from '#platform/logging.js';
import { Loop } from '#platform/loop.js';
import { Gauge, type Registry } from '#platform/metrics.js';
import type { BillingConfig } from '../billing.config.js';
import { CONFIG, LOG, POOL, REGISTRY } from '../billing.tokens.js';

/** Consumes lots of credit and recognises their revenue, behind the postings. */
@Injectable()
export class RecognitionLoop implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop: Loop;

  constructor(
    @Inject(POOL) pool: pg.Pool,
    @Inject(CONFIG) config: BillingConfig,
    @Inject(LOG) log: Logger,
    @Inject(REGISTRY) registry: Registry,
  ) {
    let recognisedTo: number | null = null;
    new Gauge({
      name: 'tollgate_recognition_lag_seconds',
      help: 'Age of the oldest posting whose revenue may not be recognised yet, once everything was reached.',
      registers: [registry],
      collect() {
        if (recognisedTo !== null) this.set(Math.max(0, Date.now() - recognisedTo) / 1_000);
      },
    });
    this.loop = new Loop({
      name: 'recognition',
      intervalMs: config.recognitionIntervalMs,
      log,
      round: async () => {
        const chunk = await recogniseNext(pool);
        const ms = Date.parse((await recognitionProgress(pool)).at);
        if (!Number.isNaN(ms)) recognisedTo = ms;
        if (chunk?.caughtUp !== true) return chunk !== null;
        await retryStuck(pool);
        return false;
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
