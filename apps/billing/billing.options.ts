import type pg from 'pg';
import type { Bus } from '#bus/bus.js';
import type { Clock } from '#platform/clock.js';
import type { Logger } from '#platform/logging.js';
import type { Registry } from '#platform/metrics.js';
import type { BillingConfig } from './billing.config.js';

export interface BillingModuleOptions {
  /** Connections under billing's own database role. */
  pool: pg.Pool;
  bus: Bus;
  config: BillingConfig;
  log: Logger;
  registry: Registry;
  clock: Clock;
}
