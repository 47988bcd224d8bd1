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
import { AccountsModule } from './accounts/accounts.module.js';
import { AdjustmentsModule } from './adjustments/adjustments.module.js';
import { ApprovalsModule } from './approvals/approvals.module.js';
import type { BillingConfig } from './billing.config.js';
import { BillingMetrics } from './billing.metrics.js';
import { LOOPS } from './billing.tokens.js';
import { ChargesController } from './charges.controller.js';
import { ConsoleController } from './console.controller.js';
import { ConsolePages } from './console.pages.js';
import { DeadLettersModule } from './dead-letters/dead-letters.module.js';
import { DutiesModule } from './duties/duties.module.js';
import { EndedTasksRepair } from './ended-tasks.repair.js';
import { ExpiredHoldsSweeper } from './expired-holds.sweeper.js';
import { FinanceModule } from './finance/finance.module.js';
import { KeysModule } from './keys/keys.module.js';
import { MailModule } from './mail/mail.module.js';
import { InvitesModule } from './invites/invites.module.js';
import { LiveModule } from './live/live.module.js';
import { PaymentsModule } from './payments/payments.module.js';
import { OverviewModule } from './overview/overview.module.js';
import { PeopleModule } from './people/people.module.js';
import { PeriodsModule } from './periods/periods.module.js';
import { PlaygroundModule } from './playground/playground.module.js';
import { CatalogModule } from './catalog/catalog.module.js';
import { ChargesModule } from './charges/charges.module.js';
import { UsageModule } from './usage/usage.module.js';
import { MarketModule } from './market/market.module.js';
import { PrivacyModule } from './privacy/privacy.module.js';
import { PricesModule } from './prices/prices.module.js';
import { ProgramsModule } from './programs/programs.module.js';
import { RefundsModule } from './refunds/refunds.module.js';
import { ReconciliationModule } from './reconciliation/reconciliation.module.js';
import { RatesModule } from './rates/rates.module.js';
import { SharedModule } from './shared.module.js';
import { TasksModule } from './tasks/tasks.module.js';
import { GrantsModule } from './grants/grants.module.js';
import { TicketsModule } from './tickets/tickets.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

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
