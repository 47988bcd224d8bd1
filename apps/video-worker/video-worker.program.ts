import { NestFactory } from '@nestjs/core';
import type pg from 'pg';
import { Bus } from '#bus/bus.js';
import type { BusTransport } from '#bus/transport.js';
import { type Clock, systemClock } from '#platform/clock.js';
import { checksOf, type ReadinessChecks } from '#platform/health.js';
import type { Logger } from '#platform/logging.js';
import type { Registry } from '#platform/metrics.js';
import type { FileStore } from '#storage/file-store.js';
import type { VideoWorkerConfig } from './video-worker.config.js';
import { VideoWorkerModule } from './video-worker.module.js';

export interface VideoWorkerProgramOptions {
  pool: pg.Pool;
  transport: BusTransport;
  /** Finished files, shared with the gateway. */
  storage: FileStore;
  config: VideoWorkerConfig;
  log: Logger;
  registry: Registry;
  clock?: Clock;
}

export interface RunningVideoWorker {
  checks: ReadinessChecks;
  /** Takes no more tasks, returns those in progress to the queue, and publishes ends. Pool and transport stay open. */
  close(): Promise<void>;
}

/** Boots the worker. It consumes nothing from the bus; it only publishes. */
export async function startVideoWorker(options: VideoWorkerProgramOptions): Promise<RunningVideoWorker> {
  const { pool, transport, storage, config, log, registry } = options;
  const bus = new Bus(transport.client({ asks: false }), { registry });
  const clock = options.clock ?? systemClock;
  const app = await NestFactory.createApplicationContext(
    VideoWorkerModule.register({ pool, bus, storage, config, log, registry, clock }),
    { logger: false, abortOnError: false },
  );
  return {
    checks: checksOf({ pool, bus, storage }),
    close: async () => {
      await app.close();
      await bus.close();
    },
  };
}
