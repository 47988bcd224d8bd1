import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type pg from 'pg';
import type { PaymentProviderName } from '#ledger/topup.js';
import type { Logger } from '#platform/logging.js';
import { Loop } from '#platform/loop.js';
import type { BillingConfig } from '../billing.config.js';
import { CONFIG, LOG, POOL } from '../billing.tokens.js';
import { BankProvider } from './bank.provider.js';
import { Checkouts } from './checkouts.js';
import { FinanceController } from './finance.controller.js';
import { FinanceReader } from './finance.reader.js';
import { OrderStore } from './order.store.js';
import { PaymentEventsController } from './payment-events.controller.js';
import { PaymentInbox } from './payment.inbox.js';
import { PaymentNotices } from './payment.notices.js';
import type { PaymentProvider, PaymentProviders } from './payment.provider.js';
import { OrderChecks, PaymentReconciler } from './payment.reconciler.js';
import { PROVIDERS } from './payments.tokens.js';
import { RefundDesk } from './refund.desk.js';
import { RefundRunner } from './refund.runner.js';
import { SandboxController } from './sandbox.controller.js';
import { SandboxProvider } from './sandbox.provider.js';
import { StripeProvider } from './stripe.provider.js';
import { SuspenseDesk } from './suspense.desk.js';
import { TopupDesk } from './topup.desk.js';
import { TopupsController } from './topups.controller.js';
import { TransferDesk } from './transfer.desk.js';

/** Looks after payments in the background for as long as billing runs. */
@Injectable()
class PaymentWork implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop: Loop;

  constructor(
    @Inject(PaymentReconciler) reconciler: PaymentReconciler,
    @Inject(CONFIG) { sweepIntervalMs }: BillingConfig,
    @Inject(LOG) log: Logger,
  ) {
    this.loop = new Loop({
      name: 'payments',
      intervalMs: sweepIntervalMs,
      log,
      round: (signal) => reconciler.round(signal),
    });
  }

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }
}

function openProviders({ payments, consoleUrl }: BillingConfig, pool: pg.Pool): PaymentProviders {
  const { stripe, sandbox } = payments;
  const providers: PaymentProvider[] = [
    ...(stripe ? [new StripeProvider(stripe, { consoleUrl })] : []),
    ...(sandbox ? [new SandboxProvider(pool, sandbox.secret)] : []),
    new BankProvider(),
  ];
  return new Map(
    providers.map((provider): [PaymentProviderName, PaymentProvider] => [provider.name, provider]),
  );
}

/** Money in: orders, payment providers and their events, refunds and disputes. */
@Module({
  controllers: [TopupsController, PaymentEventsController, FinanceController, SandboxController],
  providers: [
    { provide: PROVIDERS, useFactory: openProviders, inject: [CONFIG, POOL] },
    PaymentNotices,
    PaymentInbox,
    OrderStore,
    Checkouts,
    TopupDesk,
    OrderChecks,
    RefundRunner,
    TransferDesk,
    RefundDesk,
    SuspenseDesk,
    FinanceReader,
    PaymentReconciler,
    PaymentWork,
  ],
  exports: [PaymentInbox, PaymentNotices],
})
export class PaymentsModule {}
