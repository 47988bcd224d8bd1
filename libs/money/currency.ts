import { InvalidAmount } from './amount.js';

/** Payment currencies: whole minor units, such as cents, as bigint. */

/**
 * The decimals of those currencies that do not have two. The platform's own list is of no use: it says what is paid in cash,
 * such as no decimals for HUF and IDR, and differs between versions.
 */
const DIGITS: ReadonlyMap<string, number> = new Map([
  ...codes(0, 'BIF CLP DJF GNF ISK JPY KMF KRW MGA PYG RWF UGX VND VUV XAF XOF XPF'),
  ...codes(3, 'BHD IQD JOD KWD LYD OMR TND'),
]);

declare const paymentBrand: unique symbol;

/** Payment currency as people read it, such as "6.50". Text from the database is not one, because it may be minor units. */
export type PaymentText = string & { readonly [paymentBrand]: true };

/** The number of decimals of a currency as providers count it, such as 2 for USD and 0 for JPY. */
export function minorDigits(currency: string): number {
  return DIGITS.get(currency) ?? 2;
}

function codes(digits: number, currencies: string): [string, number][] {
  return currencies.split(' ').map((currency) => [currency, digits]);
}

const MAJOR_TEXT = /^([+-]?)(\d{1,13})(?:\.(\d*))?$/;

/**
 * Parses "-6.5" as minor units of a currency: -650n. Additional decimals must be zero.
 * @throws InvalidAmount
 */
export function parseMinor(text: string, currency: string): bigint {
  const match = MAJOR_TEXT.exec(text);
  const digits = minorDigits(currency);
  const [, sign = '', whole = '', fraction = ''] = match ?? [];
  if (!match || /[^0]/.test(fraction.slice(digits))) {
    throw new InvalidAmount(text, `an amount with at most ${digits} decimals, such as 6.50`);
  }
  const value = BigInt(whole + fraction.slice(0, digits).padEnd(digits, '0'));
  return sign === '-' ? -value : value;
}

/** Minor units as "6.50", with all decimals of the currency. */
export function formatMinor(minor: bigint, currency: string): PaymentText {
  const digits = minorDigits(currency);
  const text = (minor < 0n ? -minor : minor).toString().padStart(digits + 1, '0');
  const whole = text.slice(0, text.length - digits);
  return `${minor < 0n ? '-' : ''}${whole}${digits === 0 ? '' : `.${text.slice(-digits)}`}` as PaymentText;
}

/** Nanos of the currency: 650 cents as 6_500_000_000. */
export function minorToNanos(minor: bigint, currency: string): bigint {
  return minor * 10n ** BigInt(9 - minorDigits(currency));
}

/** Minor units with their currency, for people: "6.50 USD". */
export function moneyText(minor: bigint, currency: string): string {
  return `${formatMinor(minor, currency)} ${currency}`;
}
