import type { PaymentProviders } from '#payments/payment.provider.js';
import type { Token } from '#platform/wiring.js';

export const PROVIDERS: Token<PaymentProviders> = Symbol('payment-providers');
