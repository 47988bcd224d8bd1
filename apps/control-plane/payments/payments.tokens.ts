/** The payment providers that are configured. */
export const PROVIDERS = Symbol('payment-providers');
