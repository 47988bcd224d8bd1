import { InvalidArgumentError, Option } from 'commander';
import { day, time } from '#platform/http/fields.js';
import { InvalidAmount, MAX_AMOUNT_NANOS, type Nanos, parseAmount } from '#money/amount.js';
import {
  MINOR_PER_UNIT,
  RESELLER_RATE,
  STANDARD_RATE,
  type TopupRate,
  topupRates,
} from '#topup/conversion.js';

export const LIMIT_OPTION = ['--limit <count>', 'at most this many', countArgument, 100] as const;

export function csvOption(words = 'a CSV file'): Option {
  return new Option('--csv', words);
}

export function paymentCurrency(): string {
  return process.env['PAYMENT_CURRENCY'] ?? 'USD';
}

/** Readers of command-line values. Each names the rule that a bad value breaks. */

export function argument<T>(pattern: RegExp, read: (text: string) => T, rule: string): (text: string) => T {
  return (text) => {
    if (pattern.test(text)) return read(text);
    throw new InvalidArgumentError(rule);
  };
}

export function creditsArgument(text: string): Nanos {
  const amount = amountArgument(text);
  if (amount < 0n) throw new InvalidArgumentError('Credits cannot be negative.');
  return amount;
}

/** A payment such as 13 or 6.50, in minor units. */
export function paidArgument(text: string): bigint {
  const perMinor = 1_000_000_000n / MINOR_PER_UNIT;
  const amount = amountArgument(text);
  if (amount <= 0n || amount % perMinor !== 0n) {
    throw new InvalidArgumentError('A payment is above 0 with at most two decimals, such as 13 or 6.50.');
  }
  return amount / perMinor;
}

export function rateArgument(text: string): TopupRate {
  const rate = topupRates.find((each) => each === text);
  if (rate) return rate;
  throw new InvalidArgumentError(
    `There are only the rates ${STANDARD_RATE} and, for resellers, ${RESELLER_RATE}.`,
  );
}

export function paymentIdArgument(text: string): string {
  if (/^[\x21-\x7e]{1,200}$/.test(text)) return text;
  throw new InvalidArgumentError('A payment id is 1 to 200 printable characters without blanks.');
}

export function secondsArgument(text: string): number {
  if (/^\d{1,6}(\.\d{1,3})?$/.test(text)) return Math.round(Number(text) * 1000);
  throw new InvalidArgumentError('Give seconds, such as 60.');
}

/** A table is made in memory. */
const MOST_COUNTED = 100_000;

export function countArgument(text: string): number {
  const count = Number(text);
  if (/^\d{1,6}$/.test(text) && count >= 1 && count <= MOST_COUNTED) return count;
  throw new InvalidArgumentError(`Give a whole number from 1 to ${MOST_COUNTED}.`);
}

/** A limit that can be removed. */
export type Limit = number | 'none';

export function limitArgument(text: string): Limit {
  if (text === 'none') return text;
  const limit = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  if (limit >= 1) return limit;
  throw new InvalidArgumentError('Give a whole number from 1, or none.');
}

function amountArgument(text: string): Nanos {
  try {
    const amount = parseAmount(text);
    if (amount <= MAX_AMOUNT_NANOS) return amount;
  } catch (error) {
    if (!(error instanceof InvalidAmount)) throw error;
  }
  throw new InvalidArgumentError('Give a decimal with at most nine decimals, such as 5 or 0.02.');
}

export function dayArgument(text: string): string {
  if (day.safeParse(text).success) return text;
  throw new InvalidArgumentError('Give a day, such as 2026-01-31.');
}

export function timeArgument(text: string): Date {
  const read = readTime(day.safeParse(text).success ? `${text}T00:00Z` : text);
  if (read) return read;
  throw new InvalidArgumentError('Give a day or a time, such as 2026-01-31 or 2026-01-31T08:00:00Z.');
}

export function zonedTimeArgument(text: string): Date {
  const read = readTime(text);
  if (read) return read;
  throw new InvalidArgumentError('Give a time with its zone, such as 2027-01-31T00:00:00Z.');
}

/** Seconds may be left out. */
function readTime(text: string): Date | undefined {
  return time.safeParse(text.replace(/(T\d\d:\d\d)(?=Z|[+-])/, '$1:00')).data;
}

/** A day or a time, kept as text because the ledger's times have microseconds. */
export function exactTimeArgument(text: string): string {
  timeArgument(text);
  return text;
}

export const periodArgument = argument(/^\d{1,18}$/, BigInt, 'Give the number of a period, such as 3.');
