import { randomBytes } from 'node:crypto';
import type { ConfigReader } from '#platform/config.js';
import { type Issuer, readIssuer } from './receipts/issuer.js';

export interface StripeConfig {
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** An address other than Stripe's own. */
  readonly apiBase: string | undefined;
}

/** How money comes in. Durations are milliseconds. */
export interface PaymentsConfig {
  /** The payment currency: ISO 4217, with two decimals. */
  readonly currency: string;
  /** An unpaid order expires after this. */
  readonly orderLifeMs: number;
  /** An open order is checked at its provider after this, and then less and less often. */
  readonly firstCheckMs: number;
  /** An unfinished refund or event is retried after this, and then less and less often. */
  readonly retryMs: number;
  readonly resellerThresholdTokens: bigint;
  readonly stripe: StripeConfig | null;
  /** Where to transfer money, shown to customers who pay by bank; null: orders cannot be paid that way. */
  readonly bankInstructions: string | null;
  /** The issuer of receipts. */
  readonly issuer: Issuer;
  /** Simulated payments. Null: off. */
  readonly sandbox: { readonly secret: string } | null;
}

export function readPaymentsConfig(reader: ConfigReader): PaymentsConfig {
  return {
    currency: readPaymentCurrency(reader),
    orderLifeMs: reader.get('ORDER_LIFE_SECONDS'),
    firstCheckMs: reader.get('PAYMENT_CHECK_SECONDS'),
    retryMs: reader.get('PAYMENT_RETRY_SECONDS'),
    resellerThresholdTokens: BigInt(reader.get('RESELLER_THRESHOLD_TOKENS')),
    stripe: readStripe(reader),
    bankInstructions: reader.get('BANK_TRANSFER_INSTRUCTIONS') ?? null,
    issuer: readIssuer(reader),
    sandbox: readSandbox(reader),
  };
}

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

function readSandbox(reader: ConfigReader): PaymentsConfig['sandbox'] {
  const isOn = reader.get('SANDBOX_PAYMENTS');
  // The sandbox's events are created and checked by the same process. Only several processes must agree.
  const secret = reader.get('SANDBOX_PAYMENTS_SECRET') ?? randomBytes(32).toString('hex');
  return isOn ? { secret } : null;
}
