import { systemClock } from '#platform/clock.js';
import type { DataSource } from 'typeorm';
import { ApprovalService } from '#approvals/approval.service.js';
import type { OutboxRelay } from '#bus/outbox.js';
import type { Actor } from '#identity/role.js';
import { readBalance } from '#ledger/postings/customer-account.js';
import type { PaymentProviderName } from '#ledger/postings/topup.js';
import { formatAmount, parseAmount } from '#money/amount.js';
import { BankProvider } from '#payments/bank.provider.js';
import { Checkouts } from '#payments/checkouts.js';
import type { FinanceRequest } from '#payments/finance-credit.js';
import { type NewOrder, OrderStore } from '#payments/order.store.js';
import { PaymentInbox } from '#payments/payment.inbox.js';
import { PaymentNotices } from '#payments/payment.notices.js';
import type { PaymentProvider } from '#payments/payment.provider.js';
import { OrderChecks, PaymentReconciler } from '#payments/payment.reconciler.js';
import { type PaymentsConfig, readPaymentsConfig } from '#payments/payments.config.js';
import { RefundRunner } from '#payments/refund.runner.js';
import { StripeProvider } from '#payments/stripe.provider.js';
import type { TopupOrder } from '#payments/topup-order.entity.js';
import { TopupService } from '#payments/topup.service.js';
import { ConfigReader } from '#platform/config.js';
import { newId } from '#platform/ids.js';
import { Registry } from '#platform/metrics.js';
import { openEntities } from './entities.js';
import { createLedgerFixture, type LedgerFixture, requireCleanLedger } from './ledger.js';
import { staffActor } from './staff.js';
import { StripeStandIn } from './stripe.js';

/** Payments set up as in billing, but without its loop: specs run the rounds. */
export interface PaymentsFixture {
  ledger: LedgerFixture;
  source: DataSource;
  stripe: StripeStandIn;
  config: { payments: PaymentsConfig };
  approvals: ApprovalService;
  orders: OrderStore;
  inbox: PaymentInbox;
  topups: TopupService;
  runner: RefundRunner;
  reconciler: PaymentReconciler;
  registry: Registry;
  /** An account without credits. */
  newAccount(): Promise<string>;
  /** A finance person. */
  finance(): Promise<Actor>;
  approve(approvalId: string | null, actor: Actor): Promise<unknown>;
  /** @throws Error if the ledger is not clean */
  close(): Promise<void>;
}

/** Replaces the outbox loop of a running relay. */
export const NOBODY_WAITS = { wake: () => undefined };

const NEVER = new AbortController().signal;

/** @param env more settings; by default, retries do not wait */
export async function openPayments(env: NodeJS.ProcessEnv = {}): Promise<PaymentsFixture> {
  const [ledger, stripe] = await Promise.all([createLedgerFixture(), StripeStandIn.start()]);
  const source = await openEntities(ledger);
  // Otherwise, the second connection would still be opening, and concurrent work would run one after the other.
  await Promise.all(Array.from({ length: 8 }, () => ledger.billing.query('SELECT 1')));
  const parts = { ...openParts(ledger, source, readConfig({ ...stripe.environment, ...env })), stripe };
  const close = async () => {
    try {
      await requireCleanLedger(ledger);
    } finally {
      await Promise.all([source.destroy(), stripe.close()]);
      await ledger.close();
    }
  };
  return {
    ...parts,
    newAccount: async () => (await ledger.account({ credits: '0' })).accountId,
    finance: () => staffActor(ledger, 'finance'),
    approve: (approvalId, actor) =>
      parts.approvals.approve({ approvalId: approvalId as string, actor, note: null, requestId: newId() }),
    close,
  };
}

function readConfig(env: NodeJS.ProcessEnv): PaymentsConfig {
  const soon = { PAYMENT_CHECK_SECONDS: '0.001', PAYMENT_RETRY_SECONDS: '0.001' };
  const reader = new ConfigReader({ ...soon, BANK_TRANSFER_INSTRUCTIONS: 'To the house.', ...env });
  return reader.finish(readPaymentsConfig(reader));
}

function openParts(
  ledger: LedgerFixture,
  source: DataSource,
  payments: PaymentsConfig,
): Omit<PaymentsFixture, 'stripe' | 'newAccount' | 'finance' | 'approve' | 'close'> {
  const { billing: pool, log } = ledger;
  const config = { payments };
  const providers = new Map<PaymentProviderName, PaymentProvider>([
    [
      'stripe',
      new StripeProvider(payments.stripe!, { consoleUrl: 'http://console.test', clock: systemClock }),
    ],
    ['manual', new BankProvider(systemClock)],
  ]);
  const relay = NOBODY_WAITS as unknown as OutboxRelay;
  const registry = new Registry();
  const notices = new PaymentNotices({ registry, log, relay });
  const inbox = new PaymentInbox({ pool, config, providers, notices });
  const orders = new OrderStore({ source, pool, config });
  const checkouts = new Checkouts({ providers, config, log });
  const topups = new TopupService({ orders, checkouts, inbox });
  const runner = new RefundRunner({ pool, config, log, providers, notices });
  const checks = new OrderChecks({ orders, checkouts, service: topups });
  const reconciler = new PaymentReconciler({ orders: checks, inbox, refunds: runner });
  const approvals = new ApprovalService(source);
  return { ledger, source, config, approvals, orders, inbox, topups, runner, reconciler, registry };
}

/** An order of credits by an account, by default through Stripe. */
export function orderOf(
  { topups }: Pick<PaymentsFixture, 'topups'>,
  accountId: string,
  of: { credits?: string; provider?: NewOrder['provider'] } = {},
): Promise<TopupOrder> {
  const { credits = '10', provider = 'stripe' } = of;
  const wish = { credits: parseAmount(credits) };
  return topups.order({ accountId, wish, provider, requestId: newId() });
}

/** Sends a signed Stripe event to the inbox. */
export function receive(
  { inbox, stripe }: Pick<PaymentsFixture, 'inbox' | 'stripe'>,
  event: object,
): Promise<void> {
  const { payload, headers } = stripe.signed(event);
  return inbox.receive('stripe', Buffer.from(payload), headers);
}

/** An order paid at Stripe, and its top-up. */
export async function paidOrder(
  payments: PaymentsFixture,
  accountId: string,
  credits = '10',
): Promise<{ order: TopupOrder; topupId: string; paymentId: string }> {
  const { id } = await orderOf(payments, accountId, { credits });
  const { event, paymentId } = payments.stripe.pay(id);
  await receive(payments, event);
  const order = await payments.orders.show(accountId, id);
  return { order, topupId: order.topupId as string, paymentId };
}

/** Makes everything that waits due now, and runs one round. */
export async function roundNow({ ledger, reconciler }: PaymentsFixture): Promise<void> {
  await ledger.owner.query(`UPDATE topup_orders SET next_check_at = now() WHERE state = 'open'`);
  await ledger.owner.query(`UPDATE payment_events SET next_try_at = now() WHERE state = 'waiting'`);
  await ledger.owner.query(`UPDATE topup_refunds SET next_try_at = now() WHERE state = 'pending'`);
  while (await reconciler.round(NEVER));
}

/** The main balance of an account. */
export async function balanceOf({ billing }: LedgerFixture, accountId: string): Promise<string> {
  const balance = await readBalance(billing, accountId);
  return formatAmount(balance!.main);
}

/** A person's request, by default a new one. */
export function asking(actor: Actor, requestId = newId()): FinanceRequest {
  return { actor, requestId, auditId: newId() };
}
