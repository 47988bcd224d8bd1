import { randomBytes } from 'node:crypto';
import type { ConfigReader } from '#platform/config.js';
import { readIssuer } from './receipts/issuer.js';

export interface StripeConfig {
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** An address other than Stripe's own. */
  readonly apiBase: string | undefined;
}

export function readPaymentsConfig(reader: ConfigReader) {
  return {
    /** The payment currency: ISO 4217, with two decimals. */
    currency: readPaymentCurrency(reader),
    /** An unpaid order expires after this. */
    orderLifeMs: reader.get('ORDER_LIFE_SECONDS'),
    /** An open order is checked at its provider after this, and then less and less often. */
    firstCheckMs: reader.get('PAYMENT_CHECK_SECONDS'),
    /** An unfinished refund or event is retried after this, and then less and less often. */
    retryMs: reader.get('PAYMENT_RETRY_SECONDS'),
    resellerThresholdTokens: BigInt(reader.get('RESELLER_THRESHOLD_TOKENS')),
    stripe: readStripe(reader),
    /** Where to transfer money, shown to customers who pay by bank; null: orders cannot be paid that way. */
    bankInstructions: reader.get('BANK_TRANSFER_INSTRUCTIONS') ?? null,
    /** The issuer of receipts. */
    issuer: readIssuer(reader),
    /** Simulated payments. Null: off. */
    sandbox: readSandbox(reader),
  };
}

/** How money comes in. Durations are milliseconds. */
export type PaymentsConfig = Readonly<ReturnType<typeof readPaymentsConfig>>;

/** ISO 4217. */
export function readPaymentCurrency(reader: ConfigReader): string {
  return reader.get('PAYMENT_CURRENCY');
}

function readStripe(reader: ConfigReader): StripeConfig | null {
  const secretKey = reader.get('STRIPE_SECRET_KEY');
  const webhookSecret = reader.get('STRIPE_WEBHOOK_SECRET');
  const apiBase = reader.get('STRIPE_API_BASE');
  if (secretKey === undefined) return null;
  return { secretKey, webhookSecret: webhookSecret ?? reader.required('STRIPE_WEBHOOK_SECRET'), apiBase };
}

function readSandbox(reader: ConfigReader) {
  const isOn = reader.get('SANDBOX_PAYMENTS');
  // The sandbox's events are created and checked by the same process. Only several processes must agree.
  const secret = reader.get('SANDBOX_PAYMENTS_SECRET') ?? randomBytes(32).toString('hex');
  return isOn ? { secret } : null;
}
