import { randomBytes } from 'node:crypto';
import type { ConfigReader } from '#platform/config.js';
import { RESELLER_THRESHOLD_TOKENS } from '#topup/conversion.js';

export interface StripeConfig {
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** Another address than Stripe's own. */
  readonly apiBase: string | undefined;
}

/** How money comes in. Durations are milliseconds. */
export interface PaymentsConfig {
  /** What customers pay in: ISO 4217, with two decimals. */
  readonly currency: string;
  /** An order that nobody pays ends after this. */
  readonly orderLifeMs: number;
  /** An open order is looked up at its provider after this, and then less and less often. */
  readonly firstCheckMs: number;
  /** A refund or an event that could not be ended is tried again after this, and then less and less often. */
  readonly retryMs: number;
  readonly resellerThresholdTokens: bigint;
  readonly stripe: StripeConfig | null;
  /** Where to transfer money to, told to who pays by bank; null: orders cannot be paid so. */
  readonly bankInstructions: string | null;
  /** Payments that are only played; null: there are none. */
  readonly sandbox: { readonly secret: string } | null;
}

export function readPaymentsConfig(reader: ConfigReader): PaymentsConfig {
  return {
    currency: readPaymentCurrency(reader),
    orderLifeMs: reader.seconds('ORDER_LIFE_SECONDS', 3_600),
    firstCheckMs: reader.seconds('PAYMENT_CHECK_SECONDS', 60),
    retryMs: reader.seconds('PAYMENT_RETRY_SECONDS', 30),
    resellerThresholdTokens: BigInt(
      reader.integer('RESELLER_THRESHOLD_TOKENS', {
        fallback: Number(RESELLER_THRESHOLD_TOKENS),
        min: 1,
        max: 1e15 - 1,
      }),
    ),
    stripe: readStripe(reader),
    bankInstructions: reader.optionalString('BANK_TRANSFER_INSTRUCTIONS') ?? null,
    // Events of the sandbox are made and checked by one process; only where several share the work must they agree.
    sandbox: reader.boolean('SANDBOX_PAYMENTS', false)
      ? { secret: reader.optionalSecret('SANDBOX_PAYMENTS_SECRET') ?? randomBytes(32).toString('hex') }
      : null,
  };
}

/** ISO 4217. */
export function readPaymentCurrency(reader: ConfigReader): string {
  return reader.matching('PAYMENT_CURRENCY', {
    pattern: TWO_DECIMALS,
    rule: 'must be the code of a currency with two decimals, such as USD',
    fallback: 'USD',
  });
}

/** Upper case, and none of those that are paid in whole units or in thousandths. */
const TWO_DECIMALS =
  /^(?!BIF|CLP|DJF|GNF|JPY|KMF|KRW|MGA|PYG|RWF|UGX|VND|VUV|XAF|XOF|XPF|BHD|IQD|JOD|KWD|LYD|OMR|TND)[A-Z]{3}$/;

function readStripe(reader: ConfigReader): StripeConfig | null {
  const secretKey = reader.optionalSecret('STRIPE_SECRET_KEY');
  if (secretKey === undefined) return null;
  const apiBase = reader.optionalString('STRIPE_API_BASE') && reader.url('STRIPE_API_BASE');
  return { secretKey, webhookSecret: reader.secret('STRIPE_WEBHOOK_SECRET'), apiBase: apiBase || undefined };
}
