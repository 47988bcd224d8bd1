import { NestFactory } from '@nestjs/core';
import { Bus } from '#bus/bus.js';
import { groups } from '#bus/topics.js';
import { isTransient } from '#database/database.js';
import { EngineOverloaded } from '#ledger/charges/posting-engine.js';
import { storeDeadLetter } from '#operations/dead-letters.store.js';
import type { StartOptions } from '#operations/program-parts.js';
import { systemClock } from '#platform/clock.js';
import { checksOf, type ReadinessChecks } from '#platform/health.js';
import type { BillingConfig } from './billing.config.js';
import { BillingModule } from './billing.module.js';

export interface RunningBilling {
  checks: ReadinessChecks;
  /** Takes no more messages, finishes those in flight and publishes their events. The pool and the transport stay open. */
  close(): Promise<void>;
}

/** Boots billing, which consumes from the bus. @throws BusWiringError when a handler is missing. */
export async function startBilling(options: StartOptions<BillingConfig>): Promise<RunningBilling> {
  const { pool, transport, config, log, registry, chaos, clock = systemClock } = options;
  const bus = new Bus(transport.client({ asks: false }), { registry });
  const strategy = transport.server({
    groups: [groups.billing],
    isTransient: (error) => error instanceof EngineOverloaded || isTransient(error),
    onDeadLetter: (letter) => storeDeadLetter(pool, letter),
    log,
    registry,
    chaos,
  });
  const module = BillingModule.register({ pool, bus, config, log, registry, clock });
  const app = await NestFactory.createMicroservice(module, { strategy, logger: false, abortOnError: false });
  const close = async () => {
    await app.close();
    await bus.close();
  };
  try {
    await app.listen();
    return { checks: checksOf({ pool, bus }), close };
  } catch (error) {
    await close().catch((failure: unknown) => log.error({ err: failure }, 'billing did not close'));
    throw error;
  }
}
