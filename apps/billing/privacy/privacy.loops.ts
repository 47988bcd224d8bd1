import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type pg from 'pg';
import { OutboxRelay } from '#bus/outbox.js';
import type { Logger } from '#platform/logging.js';
import { Loop } from '#platform/loop.js';
import { DataExports } from '#privacy/data-export.js';
import { DeletionRunner } from '#privacy/deletion-runner.js';
import type { BillingConfig } from '../billing.config.js';
import { CONFIG, LOG, POOL } from '../billing.tokens.js';

/** Carries out deletions that are due, and makes exports that were asked for. */
@Injectable()
export class PrivacyLoops implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loops: Loop[];
  @Inject(OutboxRelay) private readonly relay!: OutboxRelay;

  constructor(
    @Inject(POOL) pool: pg.Pool,
    @Inject(DataExports) exports: DataExports,
    @Inject(CONFIG) { privacy }: BillingConfig,
    @Inject(LOG) log: Logger,
  ) {
    const { videos, images } = privacy.retention;
    const intervalMs = privacy.pollMs;
    const runner = new DeletionRunner({
      pool,
      fileLifeMs: Math.max(videos, images),
      retryMs: privacy.deletionRetryMs,
    });
    const deletions = async () => {
      const more = await runner.round();
      if (more) this.relay.wake();
      return more;
    };
    this.loops = [
      new Loop({ name: 'deletions', intervalMs, log, round: deletions }),
      new Loop({ name: 'exports', intervalMs, log, round: (signal) => exports.round(signal) }),
    ];
  }

  onApplicationBootstrap(): void {
    for (const loop of this.loops) loop.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.loops.map((loop) => loop.stop()));
  }
}
