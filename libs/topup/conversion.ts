import {
  creditsForPaidMinor,
  formatAmount,
  type Nanos,
  NANOS_PER_UNIT,
  nanos,
  paidMinorForCredits,
  parseDecimal,
} from '#money/amount.js';

/** A credit costs 1.3 units of payment currency; fixed, not an exchange rate. */
export const STANDARD_RATE = '1.3';
/** What a reseller pays once RESELLER_THRESHOLD_TOKENS tokens are verified. */
export const RESELLER_RATE = '1.2';
/** There are no other rates. */
export const topupRates = [STANDARD_RATE, RESELLER_RATE] as const;
export type TopupRate = (typeof topupRates)[number];

/** Payments are in a currency with two decimals. */
export const MINOR_PER_UNIT = 100n;

/** An order buys at least one credit: 1.3 units of payment currency. */
export const LEAST_CREDITS = nanos(NANOS_PER_UNIT);
/** The largest payment that providers accept, in minor units: 999,999.99. */
const LARGEST_PAYMENT_MINOR = 99_999_999n;

/** What to buy or to pay: credits in nanos, or a payment in minor units. */
export type TopupWish = { readonly credits: Nanos } | { readonly payMinor: bigint };

export interface Conversion {
  readonly credits: Nanos;
  readonly paidMinor: bigint;
  readonly rate: TopupRate;
}

/** Converts a wish at a rate. */
export function convert(wish: TopupWish, rate: TopupRate): Conversion {
  return 'credits' in wish ? priceCredits(wish.credits, rate) : convertPayment(wish.payMinor, rate);
}

/** The price of `credits` nanos, rounded up to the minor unit. There is no fee and no bonus. */
export function priceCredits(credits: Nanos, rate: TopupRate): Conversion {
  return { credits, paidMinor: paidMinorForCredits(credits, parseDecimal(rate), MINOR_PER_UNIT), rate };
}

/** What a payment of minor units buys, rounded down to the nano. */
function convertPayment(paidMinor: bigint, rate: TopupRate): Conversion {
  return { credits: creditsForPaidMinor(paidMinor, parseDecimal(rate), MINOR_PER_UNIT), paidMinor, rate };
}

/** Why a conversion cannot be ordered, as a sentence; null if it can. */
export function orderFault({ credits, paidMinor }: Conversion): string | null {
  if (credits < LEAST_CREDITS) return `a top-up buys at least ${formatAmount(LEAST_CREDITS)} credit`;
  if (paidMinor > LARGEST_PAYMENT_MINOR) return 'a payment is at most 999999.99';
  return null;
}

/** Whether a verified volume of tokens earns the reseller rate. */
export function isResellerVolume(tokens: bigint, threshold: bigint): boolean {
  return tokens >= threshold;
}
