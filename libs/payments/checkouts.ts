import type { PaymentProviderName } from '#ledger/postings/topup.js';
import { ApiError } from '#platform/errors.js';
import type { Logger } from '#platform/logging.js';
import type { PaymentsConfig } from './payments.config.js';
import type { Checkout, CheckoutState, PaymentProvider, PaymentProviders } from './payment.provider.js';
import type { TopupOrder } from './topup-order.entity.js';

export interface CheckoutsParts {
  readonly providers: PaymentProviders;
  readonly config: { readonly payments: PaymentsConfig };
  readonly log: Logger;
}

/** The checkouts of orders at their providers. */
export class Checkouts {
  constructor(private readonly parts: CheckoutsParts) {}

  /** All configured ones. */
  names(): PaymentProviderName[] {
    return [...this.parts.providers.keys()];
  }

  /** The providers that orders can be paid through. */
  forOrders(): PaymentProviderName[] {
    return this.names().filter(
      (name) => name !== 'manual' || this.parts.config.payments.bankInstructions !== null,
    );
  }

  /** @throws ApiError invalid_value for a provider that cannot be used for orders */
  require(name: PaymentProviderName): void {
    const names = this.forOrders();
    if (names.includes(name)) return;
    const message = `provider: must be one of ${names.join(', ') || 'none: no provider is configured'}.`;
    throw new ApiError('invalid_value', message, { param: 'provider' });
  }

  /** @throws ApiError payment_provider_failed */
  create(order: TopupOrder): Promise<Checkout> {
    return this.ask(order, (provider) => provider.createCheckout(order));
  }

  /** Ends the checkout and returns its outcome. @throws ApiError payment_provider_failed */
  close(order: TopupOrder): Promise<CheckoutState> {
    return this.ask(order, (provider) => provider.closeCheckout(order));
  }

  /** @throws ApiError payment_provider_failed */
  find(order: TopupOrder): Promise<CheckoutState> {
    return this.ask(order, (provider) => provider.findPayment(order));
  }

  private async ask<T>(order: TopupOrder, question: (provider: PaymentProvider) => Promise<T>): Promise<T> {
    const { id: orderId, provider: name } = order;
    try {
      const provider = this.parts.providers.get(name);
      if (!provider) throw new Error(`the provider ${name} is not configured`);
      return await question(provider);
    } catch (error) {
      this.parts.log.warn({ err: error, orderId, provider: name }, 'a payment provider did not answer');
      const message = 'The payment provider did not answer: try again.';
      throw new ApiError('payment_provider_failed', message, { cause: error });
    }
  }
}
