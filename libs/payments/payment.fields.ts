import { z } from 'zod';
import type { PaymentText } from '#money/currency.js';
import { parseAmount } from '#money/amount.js';
import { MINOR_PER_UNIT } from '#topup/conversion.js';

/** Chosen by the client. A repeat gives the same answer and does nothing. */
export const financeRequestId = z
  .string()
  .regex(/^[\x21-\x7e]{1,100}$/, 'must be 1 to 100 printable characters without blanks')
  .meta({ description: 'Chosen by the client. Repeating it with the same content changes nothing.' });

/** A provider's own id, such as a bank's reference. */
export const reference = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, 'must be 1 to 200 printable characters without blanks');

const NANOS_PER_MINOR = 1_000_000_000n / MINOR_PER_UNIT;

/** An amount of payment currency, such as "13" or "6.50"; minor units in code. */
export const payment = z
  .string()
  .regex(/^\d{1,6}(\.\d{1,2})?$/, 'must be an amount with at most two decimals, such as "13" or "6.50"')
  .transform((text) => parseAmount(text) / NANOS_PER_MINOR)
  .refine((minor) => minor > 0n, 'must be above 0')
  .meta({ description: 'An amount in the payment currency, as a decimal string.', examples: ['6.50'] });

/** Payment currency in an answer: minor units, or the result of `viewPayment`. */
export const paymentView = z
  .union([z.bigint().transform(viewPayment), z.custom<PaymentText>((value) => typeof value === 'string')])
  .pipe(z.string() as unknown as z.ZodType<PaymentText, PaymentText>)
  .meta({ description: 'An amount in the payment currency, as a decimal string.', examples: ['6.50'] });

export const providerName = z.enum(['stripe', 'manual', 'sandbox']);

export const currencyView = z.string().meta({ description: 'ISO 4217.', examples: ['USD'] });

/** Minor units as "6.50", always with two decimals. */
export function viewPayment(minor: bigint): PaymentText {
  const sign = minor < 0n ? '-' : '';
  const magnitude = minor < 0n ? -minor : minor;
  const cents = (magnitude % MINOR_PER_UNIT).toString().padStart(2, '0');
  return `${sign}${magnitude / MINOR_PER_UNIT}.${cents}` as PaymentText;
}
