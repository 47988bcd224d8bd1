import type pg from 'pg';
import type { Bus } from '#bus/bus.js';
import type { Clock } from '#platform/clock.js';
import type { Logger } from '#platform/logging.js';
import type { Registry } from '#platform/metrics.js';
import type { FileStore } from '#storage/file-store.js';
import type { VideoWorkerConfig } from './video-worker.config.js';

export interface VideoWorkerModuleOptions {
  /** Connections under the worker's own database role. */
  pool: pg.Pool;
  bus: Bus;
  storage: FileStore;
  config: VideoWorkerConfig;
  log: Logger;
  registry: Registry;
  clock: Clock;
}
