import type { PaymentProviders } from '#payments/payment.provider.js';
import type { Token } from '#platform/wiring.js';

/** The payment providers that are configured. */
export const PROVIDERS: Token<PaymentProviders> = Symbol('payment-providers');
