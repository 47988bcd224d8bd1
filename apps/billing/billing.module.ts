import {
  type BeforeApplicationShutdown,
  type DynamicModule,
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type pg from 'pg';
import type { DataSource } from 'typeorm';
import type { Bus } from '#bus/bus.js';
import { OutboxRelay } from '#bus/outbox.js';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { PostingEngine } from '#ledger/posting-engine.js';
import type { Clock } from '#platform/clock.js';
import type { ReadinessChecks } from '#platform/health.js';
import type { Logger } from '#platform/logging.js';
import { Loop } from '#platform/loop.js';
import type { Registry } from '#platform/metrics.js';
import { AccountsModule } from '#apps/control-plane/accounts/accounts.module.js';
import { AdjustmentsModule } from '#apps/control-plane/adjustments/adjustments.module.js';
import { ApprovalsModule } from '#apps/control-plane/approvals/approvals.module.js';
import type { BillingConfig } from './billing.config.js';
import { BillingMetrics } from './billing.metrics.js';
import { LOOPS } from './billing.tokens.js';
import { ChargesController } from './charges.controller.js';
import { ConsoleController } from '#apps/control-plane/console.controller.js';
import { ConsolePages } from '#apps/control-plane/console.pages.js';
import { DeadLettersModule } from '#apps/control-plane/dead-letters/dead-letters.module.js';
import { DutiesModule } from '#apps/control-plane/duties/duties.module.js';
import { EndedTasksRepair } from './ended-tasks.repair.js';
import { ExpiredHoldsSweeper } from './expired-holds.sweeper.js';
import { FinanceModule } from '#apps/control-plane/finance/finance.module.js';
import { KeysModule } from '#apps/control-plane/keys/keys.module.js';
import { MailModule } from '#apps/control-plane/mail/mail.module.js';
import { InvitesModule } from '#apps/control-plane/invites/invites.module.js';
import { LiveModule } from '#apps/control-plane/live/live.module.js';
import { PaymentsModule } from '#apps/control-plane/payments/payments.module.js';
import { OverviewModule } from '#apps/control-plane/overview/overview.module.js';
import { PeopleModule } from '#apps/control-plane/people/people.module.js';
import { PeriodsModule } from '#apps/control-plane/periods/periods.module.js';
import { PlaygroundModule } from '#apps/control-plane/playground/playground.module.js';
import { CatalogModule } from '#apps/control-plane/catalog/catalog.module.js';
import { ChargesModule } from '#apps/control-plane/charges/charges.module.js';
import { UsageModule } from '#apps/control-plane/usage/usage.module.js';
import { MarketModule } from '#apps/control-plane/market/market.module.js';
import { PrivacyModule } from '#apps/control-plane/privacy/privacy.module.js';
import { PricesModule } from '#apps/control-plane/prices/prices.module.js';
import { ProgramsModule } from '#apps/control-plane/programs/programs.module.js';
import { RefundsModule } from '#apps/control-plane/refunds/refunds.module.js';
import { ReconciliationModule } from '#apps/control-plane/reconciliation/reconciliation.module.js';
import { RatesModule } from '#apps/control-plane/rates/rates.module.js';
import { SharedModule } from '#apps/control-plane/shared.module.js';
import { TasksModule } from '#apps/control-plane/tasks/tasks.module.js';
import { GrantsModule } from '#apps/control-plane/grants/grants.module.js';
import { TicketsModule } from '#apps/control-plane/tickets/tickets.module.js';
import { WebhooksModule } from '#apps/control-plane/webhooks/webhooks.module.js';

export interface BillingModuleOptions {
  /** Connections under billing's own database role. */
  pool: pg.Pool;
  /** The same database for entities. */
  entities: DataSource;
  bus: Bus;
  config: BillingConfig;
  log: Logger;
  registry: Registry;
  clock: Clock;
  pages: ConsolePages;
  /** Where clients send calls for models, without /v1. */
  baseUrl: () => string;
  /** Where billing itself reaches a gateway. */
  gatewayUrl: () => string;
}

/** Starts billing's background work with the application, and ends it in order: loops, the ledger, announcements. */
@Injectable()
class BackgroundWork implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown {
  constructor(
    @Inject(PostingEngine) private readonly engine: PostingEngine,
    @Inject(OutboxRelay) private readonly relay: OutboxRelay,
    @Inject(LOOPS) private readonly loops: Loop[],
  ) {}

  onApplicationBootstrap(): void {
    this.relay.start();
    for (const loop of this.loops) loop.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.loops.map((loop) => loop.stop()));
  }

  /** Called when nothing is consumed any more, so what the last messages announced can still leave. */
  async onApplicationShutdown(): Promise<void> {
    await this.engine.close();
    await this.relay.stop();
  }
}

/** The money: answers charges on the bus, sweeps what was forgotten, announces what happened. */
@Module({})
export class BillingModule {
  static register(options: BillingModuleOptions): DynamicModule {
    const metrics = new BillingMetrics(options.registry);
    const relay = newRelay(options);
    const engine = newEngine(options, relay);
    const readiness = billingReadiness(options);
    return {
      module: BillingModule,
      imports: [
        SharedModule.register(options, { readiness, metrics, relay, engine }),
        AccountsModule,
        AdjustmentsModule,
        ApprovalsModule,
        DeadLettersModule,
        DutiesModule,
        KeysModule,
        MailModule,
        OverviewModule,
        PeopleModule,
        PeriodsModule,
        PlaygroundModule,
        PrivacyModule,
        RatesModule,
        ReconciliationModule,
        PaymentsModule,
        FinanceModule,
        InvitesModule,
        LiveModule,
        PricesModule,
        ProgramsModule,
        MarketModule,
        CatalogModule,
        ChargesModule,
        UsageModule,
        RefundsModule,
        TasksModule,
        TicketsModule,
        GrantsModule,
        WebhooksModule,
      ],
      controllers: [ChargesController, ConsoleController],
      providers: [
        { provide: ConsolePages, useValue: options.pages },
        { provide: LOOPS, useValue: newLoops(options, engine, metrics) },
        BackgroundWork,
      ],
    };
  }
}

/** Ready when holds can be answered: the database and the bus are there. */
export function billingReadiness(options: Pick<BillingModuleOptions, 'pool' | 'bus'>): ReadinessChecks {
  return {
    database: async () => {
      await options.pool.query('SELECT 1');
    },
    bus: () => options.bus.health(),
  };
}

function newRelay({ pool, bus, config, log, registry }: BillingModuleOptions): OutboxRelay {
  return new OutboxRelay({ pool, bus, producer: 'billing', pollMs: config.outboxPollMs, log, registry });
}

function newEngine({ pool, log, registry }: BillingModuleOptions, relay: OutboxRelay): PostingEngine {
  return new PostingEngine({
    pool,
    loadPriceBook: (client) => loadPriceBook(client),
    log,
    registry,
    onCommitted: () => relay.wake(),
  });
}

function newLoops(options: BillingModuleOptions, engine: PostingEngine, metrics: BillingMetrics): Loop[] {
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
