import { NestFactory } from '@nestjs/core';
import { Bus } from '#bus/bus.js';
import type { StartOptions } from '#operations/program-parts.js';
import { systemClock } from '#platform/clock.js';
import { checksOf, type ReadinessChecks } from '#platform/health.js';
import type { FileStore } from '#storage/file-store.js';
import type { VideoWorkerConfig } from './video-worker.config.js';
import { VideoWorkerModule } from './video-worker.module.js';

export interface VideoWorkerProgramOptions extends Omit<StartOptions<VideoWorkerConfig>, 'chaos'> {
  /** Finished files, shared with the gateway. */
  storage: FileStore;
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
