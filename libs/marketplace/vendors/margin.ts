import { type Decimal, multiply, parseDecimal, plainDecimal, roundedUp } from '#money/amount.js';
import { type PriceText, stated } from '#pricing/price-text.js';

/** Decimals of credits per call, second or million tokens. Nobody reads more. */
const DECIMALS = 6;

const ONE_PERCENT: Decimal = { digits: 1n, scale: 2 };

/**
 * The price to ask for a vendor's list price. The margin is a percentage of the list price. Each number is multiplied
 * exactly and rounded up once, to six decimals, so that rounding never reduces the margin.
 */
export function askedPrice(listPrice: PriceText, marginPercent: string): PriceText {
  const factor = multiply(plus100(parseDecimal(marginPercent)), ONE_PERCENT);
  const asked = (text: string) => plainDecimal(roundedUp(multiply(parseDecimal(text), factor), DECIMALS));
  if ('unitPrice' in listPrice) {
    const { unitPrice, rates } = listPrice;
    return {
      unitPrice: asked(unitPrice),
      ...(rates && { rates: rates.map((each) => ({ ...each, unitPrice: asked(each.unitPrice) })) }),
    };
  }
  const { input, cachedInput, output, ...others } = listPrice;
  return {
    input: asked(input),
    cachedInput: asked(cachedInput),
    output: asked(output),
    ...stated((name) => (others[name] === undefined ? undefined : asked(others[name]))),
  };
}

function plus100({ digits, scale }: Decimal): Decimal {
  return { digits: digits + 100n * 10n ** BigInt(scale), scale };
}
