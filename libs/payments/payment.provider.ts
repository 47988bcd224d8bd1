import type { IncomingHttpHeaders } from 'node:http';
import type { Nanos } from '#money/amount.js';
import type { PaymentProviderName } from '#ledger/postings/topup.js';

/** What a provider learns of an order. */
export interface PayableOrder {
  id: string;
  credits: Nanos;
  paidMinor: bigint;
  currency: string;
  /** The provider's own name for the checkout, once it is known. */
  providerReference: string | null;
  createdAt: Date;
  expiresAt: Date;
}

export interface Checkout {
  /** The provider's own name for it. */
  reference: string | null;
  /** Where the customer pays; may be relative to the console. Null where there is no page. */
  url: string | null;
}

/** What a provider's event says, in our words. Amounts are minor units, currencies ISO 4217 in upper case. */
export type PaymentFact =
  | { kind: 'paid'; orderId: string | null; paymentId: string; amountMinor: bigint; currency: string }
  /** The checkout ended without a payment. */
  | { kind: 'ended'; orderId: string | null; as: 'expired' | 'cancelled' }
  | {
      kind: 'refund';
      /** Ours; null for one that we did not ask for. */
      refundId: string | null;
      providerRefundId: string;
      state: 'succeeded' | 'failed';
      failure: string | null;
      amountMinor: bigint;
      currency: string;
    }
  | {
      kind: 'dispute';
      disputeId: string;
      paymentId: string;
      state: 'open' | 'won' | 'lost';
      amountMinor: bigint;
      currency: string;
    }
  /** Something that does not concern us. */
  | { kind: 'nothing' };

export interface PaymentEvent {
  provider: PaymentProviderName;
  /** The provider's own id, never reused. */
  eventId: string;
  /** The provider's word for it. */
  type: string;
  fact: PaymentFact;
  /** When it happened, as the provider says, ISO 8601; null: now. */
  happenedAt?: string | null;
}

/** What became of a checkout, as the provider says now. */
export type CheckoutState =
  | { state: 'paid'; paymentId: string; amountMinor: bigint; currency: string }
  /** It can still be paid, or a payment is on its way. */
  | { state: 'open' }
  /** It can never be paid. */
  | { state: 'ended' };

export interface RefundOrder {
  /** Ours: the provider does the same refund once, however often it is asked. */
  refundId: string;
  paymentId: string;
  amountMinor: bigint;
  currency: string;
  /** True when it may have been asked before. */
  isRepeat: boolean;
}

export type ProviderRefund =
  | { state: 'succeeded' | 'pending'; providerRefundId: string | null }
  | { state: 'failed'; providerRefundId: string | null; failure: string };

/**
 * Someone who takes money for us. No method is called inside a transaction, and every one may be called again. One that
 * cannot be reached throws; the work is then tried again.
 */
export interface PaymentProvider {
  readonly name: PaymentProviderName;
  /** Opens the page where an order is paid; the same page for the same order. */
  createCheckout(order: PayableOrder): Promise<Checkout>;
  /** @throws ApiError invalid_request for an event that is not the provider's own */
  verifyEvent(rawBody: Buffer, headers: IncomingHttpHeaders): PaymentEvent;
  findPayment(order: PayableOrder): Promise<CheckoutState>;
  /** Ends a checkout so that it cannot be paid any more; answers what became of it. */
  closeCheckout(order: PayableOrder): Promise<CheckoutState>;
  refund(order: RefundOrder): Promise<ProviderRefund>;
}

/** Those that are configured, by name. */
export type PaymentProviders = ReadonlyMap<PaymentProviderName, PaymentProvider>;
