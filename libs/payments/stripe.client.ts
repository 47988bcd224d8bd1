import Stripe from 'stripe';
import type { StripeConfig } from './payments.config.js';

const CALL_LIMIT_MS = 10_000;
const CALL_RETRIES = 2;

/** Stripe's own package, set up once for all uses. */
export function openStripe({ secretKey, apiBase }: StripeConfig): Stripe {
  return new Stripe(secretKey, {
    ...addressOf(apiBase),
    timeout: CALL_LIMIT_MS,
    maxNetworkRetries: CALL_RETRIES,
    telemetry: false,
  });
}

function addressOf(apiBase: string | undefined): {
  host?: string;
  port?: string;
  protocol?: 'http' | 'https';
} {
  if (apiBase === undefined) return {};
  const { hostname, port, protocol } = new URL(apiBase);
  const isPlain = protocol === 'http:';
  return { host: hostname, port: port || (isPlain ? '80' : '443'), protocol: isPlain ? 'http' : 'https' };
}
