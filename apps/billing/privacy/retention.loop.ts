import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type pg from 'pg';
import type { Logger } from '#platform/logging.js';
import { Loop } from '#platform/loop.js';
import { Counter, Gauge, type Registry } from '#platform/metrics.js';
import { retentionClasses, sweepRetention } from '#privacy/retention.js';
import type { BillingConfig } from '../billing.config.js';
import { CONFIG, LOG, POOL, REGISTRY } from '../billing.tokens.js';

/** Removes what is kept no longer, class by class, a batch of each in a round. */
@Injectable()
export class RetentionLoop implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop: Loop;
  private readonly removed: Counter<'class'>;
  private readonly lastRun: Gauge<'class'>;

  constructor(
    @Inject(POOL) private readonly pool: pg.Pool,
    @Inject(CONFIG) private readonly config: BillingConfig,
    @Inject(LOG) log: Logger,
    @Inject(REGISTRY) registry: Registry,
  ) {
    const intervalMs = config.privacy.retentionIntervalMs;
    this.loop = new Loop({ name: 'retention', intervalMs, log, round: (signal) => this.round(signal) });
    const registers = [registry];
    this.removed = new Counter({
      name: 'tollgate_retention_removed_total',
      help: 'What was removed because its time was over, by class.',
      labelNames: ['class'],
      registers,
    });
    this.lastRun = new Gauge({
      name: 'tollgate_retention_last_run_timestamp_seconds',
      help: 'When a class was last swept, Unix seconds.',
      labelNames: ['class'],
      registers,
    });
  }

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }

  private async round(signal: AbortSignal): Promise<boolean> {
    let more = false;
    for (const name of retentionClasses) {
      if (signal.aborted) return false;
      const swept = await sweepRetention(this.pool, name, this.config.privacy.retention[name]);
      this.removed.inc({ class: name }, swept.removed);
      this.lastRun.set({ class: name }, Date.now() / 1000);
      more ||= swept.more;
    }
    return more;
  }
}
