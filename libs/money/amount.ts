/**
 * Amounts of credits as bigint nano-USD (1e-9), and exact decimals for prices and multipliers.
 * Rounding happens only here: charges up, credits down.
 */

declare const nanosBrand: unique symbol;
declare const amountBrand: unique symbol;

/** An amount in nano-USD, 1e-9 of a credit. */
export type Nanos = bigint & { readonly [nanosBrand]: true };

/** An amount as people read it, such as "0.02". Text from the database is not one, because it may be nanos. */
export type AmountText = string & { readonly [amountBrand]: true };

/** An exact non-negative decimal: `digits / 10^scale`. */
export interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

export const NANOS_PER_UNIT = 1_000_000_000n;
/** A bigint column holds at most 9.2e18 nanos. One posting may have a thousandth of that. */
export const MAX_AMOUNT_NANOS = 9_000_000_000_000_000n as Nanos;
export const ZERO = 0n as Nanos;

const DECIMAL_TEXT = /^(\d{1,18})(?:\.(\d{1,18}))?$/;

export class InvalidAmount extends Error {
  constructor(text: string, rule: string) {
    super(`not an amount: ${JSON.stringify(text.slice(0, 40))} (${rule})`);
    this.name = 'InvalidAmount';
  }
}

/** Marks a bigint as nanos, for example one read from the database. */
export function nanos(value: bigint): Nanos {
  return value as Nanos;
}

/** Parses "0.02" into nanos. @throws InvalidAmount for anything but a plain decimal with at most nine decimals */
export function parseAmount(text: string): Nanos {
  const negative = text.startsWith('-');
  const match = DECIMAL_TEXT.exec(negative ? text.slice(1) : text);
  const fraction = match?.[2] ?? '';
  if (!match || fraction.length > 9) {
    throw new InvalidAmount(text, 'a decimal with at most nine decimals, such as 0.02');
  }
  const value = BigInt(match[1] ?? '0') * NANOS_PER_UNIT + BigInt(fraction.padEnd(9, '0') || '0');
  return (negative ? -value : value) as Nanos;
}

/** Prints nanos exactly, without trailing zeros: 20000000n -> "0.02". */
export function formatAmount(amount: bigint): AmountText {
  const sign = amount < 0n ? '-' : '';
  const magnitude = amount < 0n ? -amount : amount;
  const fraction = (magnitude % NANOS_PER_UNIT).toString().padStart(9, '0').replace(/0+$/, '');
  return `${sign}${magnitude / NANOS_PER_UNIT}${fraction ? `.${fraction}` : ''}` as AmountText;
}

/** The same for people: with at least two decimals, "0.5" -> "0.50". */
export function readableAmount(amount: string): string {
  const [whole, fraction = ''] = amount.split('.');
  return `${whole}.${fraction.padEnd(2, '0')}`;
}

/** Parses an exact non-negative decimal such as a price, multiplier or rate. @throws InvalidAmount */
export function parseDecimal(text: string): Decimal {
  const match = DECIMAL_TEXT.exec(text);
  if (!match) throw new InvalidAmount(text, 'a non-negative decimal with at most 18 decimals, such as 1.3');
  const fraction = match[2] ?? '';
  return { digits: BigInt((match[1] ?? '0') + fraction), scale: fraction.length };
}

/** Formats a decimal exactly: as it was parsed, or an equal text. */
export function formatDecimal(value: Decimal): string {
  if (value.scale === 0) return value.digits.toString();
  const text = value.digits.toString().padStart(value.scale + 1, '0');
  return `${text.slice(0, -value.scale)}.${text.slice(-value.scale)}`;
}

/** Formats a decimal exactly and as short as possible, without trailing zeros. */
export function plainDecimal(value: Decimal): string {
  const text = formatDecimal(value);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** Whether two decimals are the same number, however they are written. */
export function equalDecimals(a: Decimal, b: Decimal): boolean {
  return orderOfDecimals(a, b) === 0;
}

/** Negative if the first is less, positive if it is more, 0 if they are equal. */
export function orderOfDecimals(a: Decimal, b: Decimal): number {
  const difference = a.digits * 10n ** BigInt(b.scale) - b.digits * 10n ** BigInt(a.scale);
  return Number(difference > 0n) - Number(difference < 0n);
}

/** The exact product of decimals. */
export function multiply(...factors: Decimal[]): Decimal {
  return factors.reduce(
    (product, factor) => ({ digits: product.digits * factor.digits, scale: product.scale + factor.scale }),
    { digits: 1n, scale: 0 },
  );
}

/** Rounds a decimal up to a number of decimals: the rule for derived prices. */
export function roundedUp({ digits, scale }: Decimal, decimals: number): Decimal {
  if (scale <= decimals) return { digits, scale };
  const step = 10n ** BigInt(scale - decimals);
  return { digits: (digits + step - 1n) / step, scale: decimals };
}

/** Rounds an exact decimal of credits up to the next nano: the rule for charges. Zero stays zero. */
export function chargeNanos(exact: Decimal): Nanos {
  const denominator = 10n ** BigInt(exact.scale);
  return ((exact.digits * NANOS_PER_UNIT + denominator - 1n) / denominator) as Nanos;
}

/** Rounds an exact decimal of credits down to the nano: the rule for credits and rewards. */
export function creditNanos(exact: Decimal): Nanos {
  return ((exact.digits * NANOS_PER_UNIT) / 10n ** BigInt(exact.scale)) as Nanos;
}

/** ceil(n x rate) in minor units of the payment currency: what n nanos of credit cost at a rate. */
export function paidMinorForCredits(credits: Nanos, rate: Decimal, minorPerUnit: bigint): bigint {
  const numerator = credits * rate.digits * minorPerUnit;
  const denominator = NANOS_PER_UNIT * 10n ** BigInt(rate.scale);
  return (numerator + denominator - 1n) / denominator;
}

/** floor(p / rate) in nanos: the credits that a payment of p minor units buys at a rate. */
export function creditsForPaidMinor(paidMinor: bigint, rate: Decimal, minorPerUnit: bigint): Nanos {
  return ((paidMinor * NANOS_PER_UNIT * 10n ** BigInt(rate.scale)) / (rate.digits * minorPerUnit)) as Nanos;
}
