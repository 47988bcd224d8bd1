import {
  creditsForPaidMinor,
  type Decimal,
  formatAmount,
  type Nanos,
  NANOS_PER_UNIT,
  nanos,
  paidMinorForCredits,
  parseDecimal,
} from '#money/amount.js';

/** 1.3 units of payment currency buy one unit of balance; fixed, not an exchange rate. */
export const STANDARD_RATE = '1.3';
/** What a reseller pays once RESELLER_THRESHOLD_TOKENS tokens are verified. */
export const RESELLER_RATE = '1.2';
/** There are no other rates. */
export type TopupRate = typeof STANDARD_RATE | typeof RESELLER_RATE;

/** Payments are in a currency with two decimals. */
export const MINOR_PER_UNIT = 100n;

/** An order buys at least one unit of balance: 1.3 units of payment currency. */
export const LEAST_CREDITS = nanos(NANOS_PER_UNIT);
/** The largest payment that providers take, in minor units: 999,999.99. */
const LARGEST_PAYMENT_MINOR = 99_999_999n;

export interface Conversion {
  readonly credits: Nanos;
  readonly paidMinor: bigint;
  readonly rate: Decimal;
}

/** What `credits` nanos cost, rounded up to the minor unit. No fee is added and no bonus is given. */
export function priceCredits(credits: Nanos, rate: TopupRate): Conversion {
  const exact = parseDecimal(rate);
  return { credits, paidMinor: paidMinorForCredits(credits, exact, MINOR_PER_UNIT), rate: exact };
}

/** What a payment of minor units buys, rounded down to the nano. */
export function convertPayment(paidMinor: bigint, rate: TopupRate): Conversion {
  const exact = parseDecimal(rate);
  return { credits: creditsForPaidMinor(paidMinor, exact, MINOR_PER_UNIT), paidMinor, rate: exact };
}

/** Why an order cannot be made of a conversion, as a sentence; null when it can. */
export function orderFault({ credits, paidMinor }: Conversion): string | null {
  if (credits < LEAST_CREDITS) return `a top-up buys at least ${formatAmount(LEAST_CREDITS)} of balance`;
  if (paidMinor > LARGEST_PAYMENT_MINOR) return 'a payment is at most 999999.99';
  return null;
}

/** Whether a verified volume of tokens earns the reseller rate. */
export function isResellerVolume(tokens: bigint, threshold: bigint): boolean {
  return tokens >= threshold;
}
