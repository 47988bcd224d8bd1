import { type DynamicModule, Module } from '@nestjs/common';
import { OutboxRelay } from '#bus/outbox.js';
import type { ProgramReporter } from '#bus/program-reporter.js';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { PostingEngine } from '#ledger/charges/posting-engine.js';
import { Loop } from '#platform/loop.js';
import { BillingMetrics } from './billing.metrics.js';
import type { BillingModuleOptions } from './billing.options.js';
import { billingReporter } from './billing.report.js';
import { ChargesController } from './charges.controller.js';
import { EndedTasksRepair } from './ended-tasks.repair.js';
import { ExpiredHoldsSweeper } from './expired-holds.sweeper.js';
import { KeyUse } from './key-use.js';
import { LateWork } from './late-work.js';

interface Background {
  engine: PostingEngine;
  relay: OutboxRelay;
  keyUse: KeyUse;
  reporter: ProgramReporter;
  sweeps: Loop[];
}

/** Handles charges on the bus, sweeps unresolved ones, and publishes what happened. */
@Module({})
export class BillingModule {
  static register(options: BillingModuleOptions): DynamicModule {
    const { pool, log, clock, config } = options;
    const metrics = new BillingMetrics(options.registry);
    const relay = newRelay(options);
    const engine = newEngine(options, relay);
    const keyUse = new KeyUse({ pool, log, clock, intervalMs: config.keyUseIntervalMs });
    const sweeps = newSweeps(options, engine, metrics);
    const reporter = billingReporter(options);
    return {
      module: BillingModule,
      controllers: [ChargesController],
      providers: [
        { provide: LateWork, useValue: new LateWork({ pool, metrics, log }) },
        { provide: PostingEngine, useValue: engine },
        { provide: KeyUse, useValue: keyUse },
        { provide: 'background', useValue: runInBackground({ engine, relay, keyUse, reporter, sweeps }) },
      ],
    };
  }
}

/** Starts background work with the program, and stops it in order: loops, the ledger, the outbox. */
function runInBackground({ engine, relay, keyUse, reporter, sweeps }: Background) {
  return {
    onApplicationBootstrap: () => {
      for (const each of [relay, keyUse, reporter, ...sweeps]) each.start();
    },
    beforeApplicationShutdown: async () => {
      await Promise.all([keyUse, reporter, ...sweeps].map((each) => each.stop()));
    },
    // Nothing is consumed now, so what the last messages wrote to the outbox can still be published.
    onApplicationShutdown: async () => {
      await engine.close();
      await relay.stop();
    },
  };
}

function newRelay({ pool, bus, config, log, registry }: BillingModuleOptions): OutboxRelay {
  return new OutboxRelay({ pool, bus, producer: 'billing', pollMs: config.outboxPollMs, log, registry });
}

function newEngine({ pool, log, registry, config }: BillingModuleOptions, relay: OutboxRelay): PostingEngine {
  return new PostingEngine({
    pool,
    loadPriceBook: (client) => loadPriceBook(client),
    log,
    registry,
    onCommitted: () => relay.wake(),
    publishesSettlements: config.publishesSettlements,
  });
}

function newSweeps(options: BillingModuleOptions, engine: PostingEngine, metrics: BillingMetrics): Loop[] {
  const { config, log } = options;
  const parts = { ...options, engine, metrics, graceMs: config.chargeGraceMs };
  const sweeper = new ExpiredHoldsSweeper(parts);
  const repair = new EndedTasksRepair(parts);
  const intervalMs = config.sweepIntervalMs;
  return [
    new Loop({ name: 'expired-holds', intervalMs, log, round: () => sweeper.round() }),
    new Loop({ name: 'ended-tasks', intervalMs, log, round: () => repair.round() }),
  ];
}
