import { Module } from '@nestjs/common';
import type pg from 'pg';
import { DataSource } from 'typeorm';
import type { PaymentProviderName } from '#ledger/postings/topup.js';
import type { Clock } from '#platform/clock.js';
import { Loop } from '#platform/loop.js';
import { BankProvider } from '#payments/bank.provider.js';
import { Checkouts } from '#payments/checkouts.js';
import { FinanceReader } from '#payments/finance.reader.js';
import { OrderStore } from '#payments/order.store.js';
import { PaymentInbox } from '#payments/payment.inbox.js';
import { PaymentNotices } from '#payments/payment.notices.js';
import type { PaymentProvider, PaymentProviders } from '#payments/payment.provider.js';
import { OrderChecks, PaymentReconciler } from '#payments/payment.reconciler.js';
import { TopupRefundService } from '#payments/topup-refund.service.js';
import { RefundRunner } from '#payments/refund.runner.js';
import { SandboxProvider } from '#payments/sandbox.provider.js';
import { StripeProvider } from '#payments/stripe.provider.js';
import { SuspenseService } from '#payments/suspense/suspense.service.js';
import { TopupService } from '#payments/topup.service.js';
import { TransferService } from '#payments/transfer.service.js';
import { job, provided } from '#platform/wiring.js';
import { ApprovalService } from '#approvals/approval.service.js';
import { OutboxRelay } from '#bus/outbox.js';
import type { ControlPlaneConfig } from '../control-plane.config.js';
import {
  CONTROL_PLANE_CLOCK,
  CONTROL_PLANE_CONFIG,
  LOG,
  POOL,
  REGISTRY,
  type Shared,
  SHARED,
} from '../control-plane.tokens.js';
import { BillingDetailsController } from './billing-details.controller.js';
import { FinanceController } from './finance.controller.js';
import { SuspenseController } from './suspense.controller.js';
import { PaymentEventsController } from './payment-events.controller.js';
import { PROVIDERS } from './payments.tokens.js';
import { ReceiptsController } from './receipts.controller.js';
import { SandboxController } from './sandbox.controller.js';
import { TopupMailController } from './topup-mail.controller.js';
import { TopupsController } from './topups.controller.js';

interface PaymentWorkParts extends Shared {
  reconciler: PaymentReconciler;
}

/** The payment jobs. */
function paymentLoop({ reconciler, config, log }: PaymentWorkParts): Loop {
  return new Loop({
    name: 'payments',
    intervalMs: config.sweepIntervalMs,
    log,
    round: (signal) => reconciler.round(signal),
  });
}

function openProviders(
  { payments, consoleUrl }: ControlPlaneConfig,
  pool: pg.Pool,
  clock: Clock,
): PaymentProviders {
  const { stripe, sandbox } = payments;
  const providers: PaymentProvider[] = [
    ...(stripe ? [new StripeProvider(stripe, { consoleUrl, clock })] : []),
    ...(sandbox ? [new SandboxProvider(pool, { secret: sandbox.secret, clock })] : []),
    new BankProvider(clock),
  ];
  return new Map(
    providers.map((provider): [PaymentProviderName, PaymentProvider] => [provider.name, provider]),
  );
}

/** Money in: orders, payment providers and their events, refunds and disputes. */
@Module({
  controllers: [
    TopupsController,
    ReceiptsController,
    BillingDetailsController,
    PaymentEventsController,
    FinanceController,
    SuspenseController,
    SandboxController,
    TopupMailController,
  ],
  providers: [
    {
      provide: PROVIDERS,
      useFactory: openProviders,
      inject: [CONTROL_PLANE_CONFIG, POOL, CONTROL_PLANE_CLOCK],
    },
    provided(PaymentNotices, { registry: REGISTRY, log: LOG, relay: OutboxRelay }),
    provided(PaymentInbox, {
      pool: POOL,
      config: CONTROL_PLANE_CONFIG,
      providers: PROVIDERS,
      notices: PaymentNotices,
    }),
    provided(OrderStore, { source: DataSource, pool: POOL, config: CONTROL_PLANE_CONFIG }),
    provided(Checkouts, { providers: PROVIDERS, config: CONTROL_PLANE_CONFIG, log: LOG }),
    provided(TopupService, { orders: OrderStore, checkouts: Checkouts, inbox: PaymentInbox }),
    provided(OrderChecks, { orders: OrderStore, checkouts: Checkouts, service: TopupService }),
    provided(RefundRunner, {
      pool: POOL,
      config: CONTROL_PLANE_CONFIG,
      log: LOG,
      providers: PROVIDERS,
      notices: PaymentNotices,
    }),
    provided(TransferService, {
      source: DataSource,
      config: CONTROL_PLANE_CONFIG,
      approvals: ApprovalService,
      relay: OutboxRelay,
    }),
    provided(TopupRefundService, { source: DataSource, approvals: ApprovalService, runner: RefundRunner }),
    provided(SuspenseService, {
      source: DataSource,
      config: CONTROL_PLANE_CONFIG,
      approvals: ApprovalService,
      relay: OutboxRelay,
    }),
    provided(FinanceReader, { pool: POOL, config: CONTROL_PLANE_CONFIG }),
    provided(PaymentReconciler, { orders: OrderChecks, inbox: PaymentInbox, refunds: RefundRunner }),
    job(paymentLoop, { ...SHARED, reconciler: PaymentReconciler }),
  ],
  exports: [PaymentInbox, PaymentNotices],
})
export class PaymentsModule {}
