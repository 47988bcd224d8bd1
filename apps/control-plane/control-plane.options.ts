import type pg from 'pg';
import type { DataSource } from 'typeorm';
import type { Bus } from '#bus/bus.js';
import type { Clock } from '#platform/clock.js';
import type { Logger } from '#platform/logging.js';
import type { Registry } from '#platform/metrics.js';
import type { ConsolePages } from './console.pages.js';
import type { ControlPlaneConfig } from './control-plane.config.js';

export interface ControlPlaneModuleOptions {
  /** Connections under billing's database role. */
  pool: pg.Pool;
  /** A replica that reports read, if there is one. */
  reports: pg.Pool | undefined;
  /** The same database for entities. */
  entities: DataSource;
  bus: Bus;
  config: ControlPlaneConfig;
  log: Logger;
  registry: Registry;
  clock: Clock;
  pages: ConsolePages;
  /** Where clients send calls for models, without /v1. */
  baseUrl: () => string;
  /** Where the control plane itself reaches a gateway. */
  gatewayUrl: () => string;
}
