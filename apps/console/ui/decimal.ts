/** Amounts are decimal strings from the server to the screen, never JavaScript numbers. */

const PLAIN_DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

export function isDecimal(text: string): boolean {
  return PLAIN_DECIMAL.test(text);
}

/** Intl takes decimal strings exactly, but its types do not all say so. */
function asIntl(value: string): number {
  return value as unknown as number;
}

/** The ledger's code for credits. All other units are ISO codes. */
export const CREDIT_UNIT = 'CRD';

/** The currency that upstreams bill in. */
export const COSTS = 'UPC';

interface MoneyStyle {
  /** CREDIT_UNIT, COSTS, or an ISO code such as USD. */
  currency: string;
  /** A language tag such as zh-Hans. */
  locale: string;
}

const MOST_DECIMALS = 20;
const formats = new Map<string, Intl.NumberFormat>();

function formatOf({ locale, currency, decimals }: MoneyStyle & { decimals: number }): Intl.NumberFormat {
  const key = `${locale} ${currency} ${decimals}`;
  let format = formats.get(key);
  if (!format) {
    format = new Intl.NumberFormat(locale, {
      ...(currency === CREDIT_UNIT ? {} : { style: 'currency', currency: isoOf(currency) }),
      minimumFractionDigits: 2,
      maximumFractionDigits: decimals,
      roundingMode: 'trunc',
    });
    formats.set(key, format);
  }
  return format;
}

function isoOf(currency: string): string {
  return currency === COSTS ? 'USD' : currency;
}

/** All decimals, at least two: "$0.000123"; only the number for credits. */
export function amountText(value: string, style: MoneyStyle): string {
  return formatOf({ ...style, decimals: MOST_DECIMALS }).format(asIntl(value));
}

/** Cut to two decimals, for headlines. */
export function shortAmount(value: string, style: MoneyStyle): string {
  return formatOf({ ...style, decimals: 2 }).format(asIntl(value));
}

/** A plain decimal, such as a multiplier, in the language's format. */
export function exactDecimal(value: string, locale: string): string {
  return new Intl.NumberFormat(locale, { maximumFractionDigits: MOST_DECIMALS }).format(asIntl(value));
}

/** The number of significant decimals: 2 for "1.2500". */
export function decimalsOf(value: string): number {
  return (PLAIN_DECIMAL.exec(value)?.[3] ?? '').replace(/0+$/, '').length;
}

export function signOf(value: string): -1 | 0 | 1 {
  if (/^-?0*(\.0*)?$/.test(value)) return 0;
  return value.startsWith('-') ? -1 : 1;
}

/** Compares two amounts exactly; negative if the second is larger. */
export function compareDecimals(a: string, b: string): number {
  const scale = Math.max(decimalsOf(a), decimalsOf(b));
  const difference = scaled(a, scale) - scaled(b, scale);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}

export function addDecimals(...values: string[]): string {
  const scale = Math.max(0, ...values.map(decimalsOf));
  return unscaled(
    values.reduce((sum, value) => sum + scaled(value, scale), 0n),
    scale,
  );
}

/** The exact product of an amount and a whole number. */
export function multiplyDecimal(value: string, count: number | bigint): string {
  const scale = decimalsOf(value);
  return unscaled(scaled(value, scale) * BigInt(count), scale);
}

/** The exact product of decimals. */
export function multiplyDecimals(...values: string[]): string {
  const scales = values.map(decimalsOf);
  const product = values.reduce((all, value, index) => all * scaled(value, scales[index]!), 1n);
  return unscaled(
    product,
    scales.reduce((sum, scale) => sum + scale, 0),
  );
}

/** Rounds up to this many decimals; amounts are never negative. */
export function roundUp(value: string, decimals: number): string {
  const scale = Math.max(decimals, decimalsOf(value));
  const step = 10n ** BigInt(scale - decimals);
  return unscaled((scaled(value, scale) + step - 1n) / step, decimals);
}

/** The value rounded to this many decimals, a half away from zero. */
export function roundHalfUp(value: string, decimals: number): string {
  const scale = Math.max(decimals, decimalsOf(value));
  const step = 10n ** BigInt(scale - decimals);
  const units = scaled(value, scale);
  return unscaled((units + (units < 0n ? -step : step) / 2n) / step, decimals);
}

function scaled(value: string, scale: number): bigint {
  const match = PLAIN_DECIMAL.exec(value);
  if (!match) throw new Error(`${value} is no decimal`);
  const [, sign, whole, fraction = ''] = match;
  const digits = BigInt(`${whole}${fraction.slice(0, scale).padEnd(scale, '0')}`);
  return sign === '-' ? -digits : digits;
}

function unscaled(value: bigint, scale: number): string {
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '');
  return `${value < 0n ? '-' : ''}${whole}${fraction && `.${fraction}`}`;
}
