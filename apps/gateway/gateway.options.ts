import type pg from 'pg';
import type { Bus } from '#bus/bus.js';
import type { Clock } from '#platform/clock.js';
import type { Logger } from '#platform/logging.js';
import type { Registry } from '#platform/metrics.js';
import type { FileStore } from '#storage/file-store.js';
import type { GatewayConfig } from './gateway.config.js';

export interface GatewayModuleOptions {
  /** Connections under the gateway's own database role. */
  pool: pg.Pool;
  bus: Bus;
  storage: FileStore;
  config: GatewayConfig;
  log: Logger;
  registry: Registry;
  clock: Clock;
}
