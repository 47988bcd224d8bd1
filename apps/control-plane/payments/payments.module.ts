import { Module } from '@nestjs/common';
import type { PaymentProviderName } from '#ledger/postings/topup.js';
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
import { job, provided, providedBy } from '#platform/wiring.js';
import { type Shared, SHARED, SHARED_WITH_APPROVALS } from '../control-plane.tokens.js';
import { BillingDetailsController } from './billing-details.controller.js';
import { FinanceController } from './finance.controller.js';
import { SuspenseController } from './suspense.controller.js';
import { PaymentEventsController } from './payment-events.controller.js';
import { PROVIDERS } from './payments.tokens.js';
import { ReceiptsController } from './receipts.controller.js';
import { SandboxController } from './sandbox.controller.js';
import { TopupMailController } from './topup-mail.controller.js';
import { TopupsController } from './topups.controller.js';

function paymentLoop({ reconciler, config, log }: Shared & { reconciler: PaymentReconciler }): Loop {
  return new Loop({
    name: 'payments',
    intervalMs: config.sweepIntervalMs,
    log,
    round: (signal) => reconciler.round(signal),
  });
}

function openProviders({ config, pool, clock }: Shared): PaymentProviders {
  const { consoleUrl } = config;
  const { stripe, sandbox } = config.payments;
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
    providedBy(PROVIDERS, openProviders, SHARED),
    provided(PaymentNotices, SHARED),
    provided(PaymentInbox, { ...SHARED, providers: PROVIDERS, notices: PaymentNotices }),
    provided(OrderStore, SHARED),
    provided(Checkouts, { ...SHARED, providers: PROVIDERS }),
    provided(TopupService, { orders: OrderStore, checkouts: Checkouts, inbox: PaymentInbox }),
    provided(OrderChecks, { orders: OrderStore, checkouts: Checkouts, service: TopupService }),
    provided(RefundRunner, { ...SHARED, providers: PROVIDERS, notices: PaymentNotices }),
    provided(TransferService, SHARED_WITH_APPROVALS),
    provided(TopupRefundService, { ...SHARED_WITH_APPROVALS, runner: RefundRunner }),
    provided(SuspenseService, SHARED_WITH_APPROVALS),
    provided(FinanceReader, SHARED),
    provided(PaymentReconciler, { orders: OrderChecks, inbox: PaymentInbox, refunds: RefundRunner }),
    job(paymentLoop, { ...SHARED, reconciler: PaymentReconciler }),
  ],
  exports: [PaymentInbox, PaymentNotices],
})
export class PaymentsModule {}
