import type pg from 'pg';
import type { Bus } from '#bus/bus.js';
import type { ChaosOptions } from '#bus/chaos.js';
import type { BusTransport } from '#bus/transport.js';
import type { Clock } from '#platform/clock.js';
import type { Logger } from '#platform/logging.js';
import type { Registry } from '#platform/metrics.js';

export interface ProgramParts<Config> {
  /** Connections under the program's database role. */
  pool: pg.Pool;
  bus: Bus;
  config: Config;
  log: Logger;
  registry: Registry;
  clock: Clock;
}

export interface StartOptions<Config> extends Omit<ProgramParts<Config>, 'bus' | 'clock'> {
  transport: BusTransport;
  clock?: Clock;
  chaos?: ChaosOptions | undefined;
}
