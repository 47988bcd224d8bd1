import type { IncomingHttpHeaders } from 'node:http';
import type { Nanos } from '#money/amount.js';
import type { PaymentProviderName } from '#ledger/postings/topup.js';

/** What a provider receives of an order. */
export interface PayableOrder {
  id: string;
  credits: Nanos;
  paidMinor: bigint;
  currency: string;
  /** The provider's own id of the checkout, once known. */
  providerReference: string | null;
  createdAt: Date;
  expiresAt: Date;
}

/** The longest checkout at Stripe, less a minute by which our clock may be ahead. Orders of bank transfers may have more time. */
export const LONGEST_STRIPE_CHECKOUT_MS = (24 * 60 - 1) * 60_000;

export interface Checkout {
  /** The provider's own id. */
  reference: string | null;
  /** Where the customer pays. May be relative to the console; null without a page. */
  url: string | null;
}

/** A provider's event in our terms. Amounts are minor units, currencies ISO 4217 in upper case. */
export type PaymentFact =
  | { kind: 'paid'; orderId: string | null; paymentId: string; amountMinor: bigint; currency: string }
  /** The checkout ended without a payment. */
  | { kind: 'ended'; orderId: string | null; as: 'expired' | 'cancelled' }
  | {
      kind: 'refund';
      /** Our id. Null if we did not request it. */
      refundId: string | null;
      providerRefundId: string;
      /** The payment that it is of, if the provider says so. */
      paymentId?: string | null;
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
  /** The provider's own id. */
  type: string;
  fact: PaymentFact;
  /** When it happened according to the provider, ISO 8601; null: now. */
  happenedAt?: string | null;
}

/** The current state of a checkout at the provider. */
export type CheckoutState =
  | { state: 'paid'; paymentId: string; amountMinor: bigint; currency: string }
  /** It can still be paid, or a payment is in progress. */
  | { state: 'open' }
  /** It can never be paid. */
  | { state: 'ended' };

export interface RefundOrder {
  /** Our id: the provider makes the same refund once, however often it is requested. */
  refundId: string;
  paymentId: string;
  amountMinor: bigint;
  currency: string;
  /** True if it may have been requested before. */
  isRepeat: boolean;
}

export type ProviderRefund =
  | { state: 'succeeded' | 'pending'; providerRefundId: string | null }
  | { state: 'failed'; providerRefundId: string | null; failure: string };

/**
 * A service that accepts payments for us. No method is called inside a transaction, and each may be called again. If it
 * cannot be reached, it throws, and the work is retried.
 */
export interface PaymentProvider {
  readonly name: PaymentProviderName;
  /** Opens the page where an order is paid; the same page for the same order. */
  createCheckout(order: PayableOrder): Promise<Checkout>;
  /** @throws ApiError invalid_request for an event that is not the provider's own */
  verifyEvent(rawBody: Buffer, headers: IncomingHttpHeaders): PaymentEvent;
  findPayment(order: PayableOrder): Promise<CheckoutState>;
  /** Ends a checkout so that it can no longer be paid. @returns its outcome */
  closeCheckout(order: PayableOrder): Promise<CheckoutState>;
  refund(order: RefundOrder): Promise<ProviderRefund>;
}

/** The configured providers, by name. */
export type PaymentProviders = ReadonlyMap<PaymentProviderName, PaymentProvider>;
