import Stripe from 'stripe';
import type { IncomingHttpHeaders } from 'node:http';
import { formatAmount } from '#money/amount.js';
import type { Clock } from '#platform/clock.js';
import { ApiError } from '#platform/errors.js';
import {
  type Checkout,
  type CheckoutState,
  LONGEST_STRIPE_CHECKOUT_MS,
  type PayableOrder,
  type PaymentEvent,
  type PaymentFact,
  type PaymentProvider,
  type ProviderRefund,
  type RefundOrder,
} from './payment.provider.js';
import type { StripeConfig } from './payments.config.js';
import { openStripe } from './stripe.client.js';
import { isOfOurTime, requireReadable } from './stripe.event.js';

/** The shortest checkout that Stripe allows, plus a minute for the network. */
const SHORTEST_CHECKOUT_MS = 31 * 60_000;
/** Marks our refunds at Stripe, to find them when their idempotency key is forgotten there after a day. */
const REFUND_MARK = 'tollgate_refund';

/** Payments through Stripe Checkout. */
export class StripeProvider implements PaymentProvider {
  readonly name = 'stripe';
  private readonly stripe: Stripe;

  constructor(
    private readonly config: StripeConfig,
    private readonly options: { consoleUrl: string; clock: Clock },
  ) {
    this.stripe = openStripe(config);
  }

  async createCheckout(order: PayableOrder): Promise<Checkout> {
    const page = `${this.options.consoleUrl}/topups/${order.id}`;
    const session = await this.stripe.checkout.sessions.create(
      {
        mode: 'payment',
        client_reference_id: order.id,
        line_items: [lineOf(order)],
        metadata: { order: order.id },
        payment_intent_data: { metadata: { order: order.id } },
        expires_at: checkoutEnd(order),
        success_url: `${page}?paid`,
        cancel_url: page,
      },
      { idempotencyKey: `order-${order.id}` },
    );
    return { reference: session.id, url: session.url };
  }

  verifyEvent(rawBody: Buffer, headers: IncomingHttpHeaders): PaymentEvent {
    const event = this.signedEvent(rawBody, String(headers['stripe-signature'] ?? ''));
    const happenedAt = new Date(event.created * 1000).toISOString();
    return { provider: 'stripe', eventId: event.id, type: event.type, fact: factOf(event), happenedAt };
  }

  async findPayment(order: PayableOrder): Promise<CheckoutState> {
    // Without an id, nobody was ever sent to the checkout.
    if (order.providerReference === null) {
      return { state: order.expiresAt.getTime() < this.options.clock.nowMs() ? 'ended' : 'open' };
    }
    return stateOf(await this.stripe.checkout.sessions.retrieve(order.providerReference));
  }

  async closeCheckout(order: PayableOrder): Promise<CheckoutState> {
    if (order.providerReference === null) return { state: 'ended' };
    try {
      return stateOf(await this.stripe.checkout.sessions.expire(order.providerReference));
    } catch (error) {
      // It has ended in another way by now, perhaps with a payment.
      if (error instanceof Stripe.errors.StripeInvalidRequestError) return this.findPayment(order);
      throw error;
    }
  }

  async refund(order: RefundOrder): Promise<ProviderRefund> {
    const { refundId, paymentId, amountMinor } = order;
    try {
      const known = order.isRepeat ? await this.findRefund(order) : undefined;
      const refund =
        known ??
        (await this.stripe.refunds.create(
          {
            payment_intent: paymentId,
            amount: stripeAmount(amountMinor),
            metadata: { [REFUND_MARK]: refundId },
          },
          { idempotencyKey: `refund-${refundId}` },
        ));
      return answerOf(refund);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return { state: 'failed', providerRefundId: null, failure: error.message };
    }
  }

  private async findRefund({ refundId, paymentId }: RefundOrder): Promise<Stripe.Refund | undefined> {
    for await (const refund of this.stripe.refunds.list({ payment_intent: paymentId, limit: 100 })) {
      if (refund.metadata?.[REFUND_MARK] === refundId) return refund;
    }
    return undefined;
  }

  private signedEvent(rawBody: Buffer, signature: string): Stripe.Event {
    let event: Stripe.Event;
    try {
      event = this.stripe.webhooks.constructEvent(rawBody, signature, this.config.webhookSecret);
    } catch (cause) {
      const isSigned = !(cause instanceof Stripe.errors.StripeSignatureVerificationError);
      const fault = isSigned ? 'is not JSON.' : 'is not signed by Stripe, or was signed too long ago.';
      throw new ApiError('invalid_request', `The event ${fault}`, { cause });
    }
    if (!isOfOurTime(signature, this.options.clock.nowMs()))
      throw new ApiError('invalid_request', 'The signature has a time in the future.');
    requireReadable(event);
    return event;
  }
}

function lineOf({
  currency,
  paidMinor,
  credits,
}: PayableOrder): Stripe.Checkout.SessionCreateParams.LineItem {
  const product = { name: `Credits: ${formatAmount(credits)}` };
  return {
    quantity: 1,
    price_data: {
      currency: currency.toLowerCase(),
      unit_amount: stripeAmount(paidMinor),
      product_data: product,
    },
  };
}

/** Seconds since 1970. The same for each repeat, or Stripe would refuse it as a different request. */
function checkoutEnd({ createdAt, expiresAt }: PayableOrder): number {
  const lifeMs = expiresAt.getTime() - createdAt.getTime();
  const allowedMs = Math.min(Math.max(lifeMs, SHORTEST_CHECKOUT_MS), LONGEST_STRIPE_CHECKOUT_MS);
  return Math.floor((createdAt.getTime() + allowedMs) / 1000);
}

/** The content was refused, so repeating it changes nothing. A wrong key or a limit will be fixed. */
function isRefusal(error: unknown): error is Error {
  return (
    error instanceof Stripe.errors.StripeInvalidRequestError || error instanceof Stripe.errors.StripeCardError
  );
}

function stateOf(session: Stripe.Checkout.Session): CheckoutState {
  const paid = paidFact(session);
  if (paid) return { ...paid, state: 'paid' };
  return { state: session.status === 'expired' ? 'ended' : 'open' };
}

function factOf(event: Stripe.Event): PaymentFact {
  switch (event.type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
      return paidFact(event.data.object) ?? { kind: 'nothing' };
    case 'checkout.session.async_payment_failed':
    case 'checkout.session.expired':
      return { kind: 'ended', orderId: event.data.object.client_reference_id, as: 'expired' };
    case 'refund.created':
    case 'refund.updated':
    case 'refund.failed':
      return refundFact(event.data.object);
    case 'charge.dispute.created':
    case 'charge.dispute.updated':
    case 'charge.dispute.closed':
    case 'charge.dispute.funds_withdrawn':
    case 'charge.dispute.funds_reinstated':
      return disputeFact(event.data.object);
    default:
      return { kind: 'nothing' };
  }
}

function paidFact(session: Stripe.Checkout.Session): (PaymentFact & { kind: 'paid' }) | null {
  const { payment_status, payment_intent, amount_total, currency } = session;
  if (payment_status !== 'paid' || !payment_intent) return null;
  return {
    kind: 'paid',
    orderId: session.client_reference_id,
    paymentId: idOf(payment_intent),
    amountMinor: BigInt(amount_total ?? 0),
    currency: (currency ?? '').toUpperCase(),
  };
}

function refundFact(refund: Stripe.Refund): PaymentFact {
  const answer = answerOf(refund);
  if (answer.state === 'pending') return { kind: 'nothing' };
  return {
    kind: 'refund',
    refundId: refund.metadata?.[REFUND_MARK] ?? null,
    providerRefundId: refund.id,
    paymentId: refund.payment_intent ? idOf(refund.payment_intent) : null,
    state: answer.state,
    failure: 'failure' in answer ? answer.failure : null,
    amountMinor: BigInt(refund.amount),
    currency: refund.currency.toUpperCase(),
  };
}

function answerOf({ id: providerRefundId, status, failure_reason }: Stripe.Refund): ProviderRefund {
  if (status === 'succeeded') return { state: 'succeeded', providerRefundId };
  if (status === 'failed' || status === 'canceled')
    return { state: 'failed', providerRefundId, failure: failure_reason ?? status };
  return { state: 'pending', providerRefundId };
}

/** An inquiry takes no money, and neither does what Stripe could prevent. */
function disputeFact(dispute: Stripe.Dispute): PaymentFact {
  const state = DISPUTE_STATES[dispute.status];
  if (state === undefined || !dispute.payment_intent) return { kind: 'nothing' };
  return {
    kind: 'dispute',
    disputeId: dispute.id,
    paymentId: idOf(dispute.payment_intent),
    state,
    amountMinor: BigInt(dispute.amount),
    currency: dispute.currency.toUpperCase(),
  };
}

const DISPUTE_STATES: Partial<Record<string, 'open' | 'won' | 'lost'>> = {
  needs_response: 'open',
  under_review: 'open',
  won: 'won',
  lost: 'lost',
};

function idOf(object: string | { id: string }): string {
  return typeof object === 'string' ? object : object.id;
}

/** Minor units for Stripe's SDK, which takes numbers. @throws RangeError for an amount that no number represents exactly */
function stripeAmount(minor: bigint): number {
  const amount = Number(minor);
  if (!Number.isSafeInteger(amount))
    throw new RangeError(`Stripe does not accept an amount of ${minor} minor units.`);
  return amount;
}
