import { type DynamicModule, Module } from '@nestjs/common';
import { OutboxRelay } from '#bus/outbox.js';
import { checksOf } from '#platform/health.js';
import { first } from '#platform/wiring.js';
import { AccountsModule } from './accounts/accounts.module.js';
import { CatalogModule } from './catalog/catalog.module.js';
import { ChargesModule } from './charges/charges.module.js';
import { DeadLettersController } from './dead-letters/dead-letters.controller.js';
import { recordDuties } from './duties/recorded-duties.js';
import { FinanceModule } from './finance/finance.module.js';
import { InvitesController } from './invites/invites.controller.js';
import { KeysModule } from './keys/keys.module.js';
import { LiveModule } from './live/live.module.js';
import { MailModule } from './mail/mail.module.js';
import { MarketModule } from './market/market.module.js';
import { OverviewModule } from './overview/overview.module.js';
import { PaymentsModule } from './payments/payments.module.js';
import { PeopleModule } from './people/people.module.js';
import { PeriodsModule } from './periods/periods.module.js';
import { PlaygroundModule } from './playground/playground.module.js';
import { PricesModule } from './prices/prices.module.js';
import { PrivacyModule } from './privacy/privacy.module.js';
import { ProgramsModule } from './programs/programs.module.js';
import { ReconciliationModule } from './reconciliation/reconciliation.module.js';
import { TasksController } from './tasks/tasks.controller.js';
import { TicketsModule } from './tickets/tickets.module.js';
import { UsageModule } from './usage/usage.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';
import { ConsoleController } from './console.controller.js';
import { PagesController } from './pages.controller.js';
import { ConsolePages } from './console.pages.js';
import type { ControlPlaneModuleOptions } from './control-plane.options.js';
import { SHARED } from './control-plane.tokens.js';
import { SharedModule } from './shared.module.js';
import { StatusController } from './status.controller.js';

const MODULES = [
  AccountsModule,
  CatalogModule,
  ChargesModule,
  FinanceModule,
  KeysModule,
  LiveModule,
  MailModule,
  MarketModule,
  OverviewModule,
  PaymentsModule,
  PeopleModule,
  PeriodsModule,
  PlaygroundModule,
  PricesModule,
  PrivacyModule,
  ProgramsModule,
  ReconciliationModule,
  TicketsModule,
  UsageModule,
  WebhooksModule,
];

/** The console's address: what people can see and do, and the bookkeeping jobs. */
@Module({})
export class ControlPlaneModule {
  static register(options: ControlPlaneModuleOptions): DynamicModule {
    const relay = newRelay(options);
    return {
      module: ControlPlaneModule,
      imports: [SharedModule.register(options, { readiness: checksOf(options), relay }), ...MODULES],
      controllers: [
        ConsoleController,
        StatusController,
        PagesController,
        DeadLettersController,
        InvitesController,
        TasksController,
      ],
      providers: [
        first(recordDuties, SHARED),
        { provide: ConsolePages, useValue: options.pages },
        {
          provide: 'announcements',
          // Stopped after the handlers, so that their last announcements are still sent.
          useValue: {
            onApplicationBootstrap: () => void relay.start(),
            onApplicationShutdown: () => relay.stop(),
          },
        },
      ],
    };
  }
}

/** Billing's outbox has one relay in each program that writes into it; one of them leads. */
function newRelay({ pool, bus, config, log, registry }: ControlPlaneModuleOptions): OutboxRelay {
  return new OutboxRelay({ pool, bus, producer: 'billing', pollMs: config.outboxPollMs, log, registry });
}
