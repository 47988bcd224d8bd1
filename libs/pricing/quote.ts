import { chargeNanos, type Decimal, multiply, type Nanos, nanos } from '#money/amount.js';
import { cacheWritePrices, type Price, type PriceBook, type TokenPrice } from './price-book.js';
import { type DimensionName, type Dimensions, ratedDimensions, rateFor } from './rates.js';
import { byLine, type LineKind, lineKinds, nameOfLine, type TokenCounts } from './token-kinds.js';
import { type QuoteRefusal, type Terms, termsAt, type TermsRequest } from './terms.js';

/** Units of one charge: images of a call, seconds of a video. The limit keeps every product inside a bigint column. */
const MAX_UNITS = 1_000_000n;
/** Tokens of one kind in one charge. No model reads or writes that many in a call. */
export const MAX_TOKENS = 100_000_000n;

/** One line of a metered charge, rounded by itself. */
export interface ChargeLine {
  readonly kind: LineKind;
  readonly units: bigint;
  readonly unitPrice: Decimal;
}

/** The calculation of a price: enough to recompute it from the versions alone. */
export interface Quote extends Omit<Terms, 'price'> {
  readonly units: bigint;
  /** null for metered work, whose lines have prices of their own. */
  readonly unitPrice: Decimal | null;
  /** What the unit price depends on. */
  readonly ratedBy: readonly DimensionName[];
  readonly lines: readonly ChargeLine[] | null;
  readonly amount: Nanos;
}

export interface QuoteRequest extends TermsRequest {
  /** Images, seconds or calls. Not used for metered work. */
  units: bigint;
  /** The most that metered work may use, for a hold, or what it used. */
  tokens?: TokenCounts | null;
  /** Request properties that a rate may name; null: none. */
  dimensions?: Dimensions | null | undefined;
}

/** The units of a request, regardless of their price. */
type Use = Pick<QuoteRequest, 'units' | 'tokens' | 'dimensions'>;

/**
 * Prices units of a model for a group at a time: unit price x units x multiplier, rounded up once per line. A model
 * outside the group, withdrawn, switched off or without a price is 'model_not_found'.
 * @throws RangeError for units or tokens beyond the limits above
 */
export function quote(book: PriceBook, request: QuoteRequest): Quote | QuoteRefusal {
  const terms = termsAt(book, request);
  return typeof terms === 'string' ? terms : quoteOf(terms, request);
}

/**
 * Prices units or tokens on these terms. Work metered by tokens without any tokens is 'model_not_found'.
 * @throws RangeError for units or tokens beyond the limits above
 */
export function quoteOf(terms: Terms, used: Use): Quote | QuoteRefusal {
  const { price, ...explained } = terms;
  const priced = pricePart(price, used, terms.multiplier);
  return priced ? { ...explained, ...priced } : 'model_not_found';
}

type PricedPart = Pick<Quote, 'units' | 'unitPrice' | 'ratedBy' | 'lines' | 'multiplier' | 'amount'>;

function pricePart(price: Price, used: Use, multiplier: Decimal): PricedPart | null {
  if (price.kind === 'unit') return unitQuote(price, used, multiplier);
  const { tokens } = used;
  if (!tokens) return null;
  const lines = tokenLines(price, tokens);
  const sum = lines.reduce((total, line) => total + line.units, 0n);
  return {
    units: sum,
    unitPrice: null,
    ratedBy: [],
    lines,
    multiplier,
    amount: linesAmount(lines, multiplier),
  };
}

function unitQuote(
  { unitPrice: listed, rates = [] }: Extract<Price, { kind: 'unit' }>,
  { units, dimensions }: Use,
  multiplier: Decimal,
): PricedPart {
  if (units < 1n || units > MAX_UNITS) throw new RangeError(`units out of range: ${units}`);
  const { unitPrice } = rateFor(rates, { ...dimensions, length: String(units) }) ?? { unitPrice: listed };
  const amount = amountFor(unitPrice, multiplier, units);
  return { units, unitPrice, ratedBy: ratedDimensions(rates), lines: null, multiplier, amount };
}

function tokenLines(price: TokenPrice, tokens: TokenCounts): ChargeLine[] {
  const lines = withTokens(unusedLines(price), tokens);
  const counts: bigint[] = [...Object.values(tokens), ...lines.map(({ units }) => units)];
  for (const count of counts) {
    if (count < 0n || count > MAX_TOKENS) throw new RangeError(`tokens out of range: ${count}`);
  }
  return lines;
}

/** One line for each kind of token that the price names, and for those that every price has. */
function unusedLines(price: TokenPrice): ChargeLine[] {
  const prices = { ...price, ...cacheWritePrices(price) };
  return lineKinds.flatMap((kind) => {
    const unitPrice = prices[nameOfLine(kind)];
    return unitPrice ? [{ kind, units: 0n, unitPrice }] : [];
  });
}

/** The amount of a charge line from its recorded parts; the same for a hold, a partial settlement and a recomputation. */
export function amountFor(unitPrice: Decimal, multiplier: Decimal, units: bigint): Nanos {
  return chargeNanos(multiply(unitPrice, multiplier, { digits: units, scale: 0 }));
}

/** The price of a part of the quoted units. Metered work has no units to divide and costs its whole quote. */
export function amountOfUnits(quoted: Quote, units: bigint): Nanos {
  return quoted.unitPrice ? amountFor(quoted.unitPrice, quoted.multiplier, units) : quoted.amount;
}

/** The amount of metered work: each line rounded up by itself. */
export function linesAmount(lines: readonly ChargeLine[], multiplier: Decimal): Nanos {
  return nanos(lines.reduce((sum, line) => sum + amountFor(line.unitPrice, multiplier, line.units), 0n));
}

/** The same lines with actual usage. */
export function withTokens(lines: readonly ChargeLine[], tokens: TokenCounts): ChargeLine[] {
  const used = byLine(tokens, new Set(lines.map(({ kind }) => kind)));
  return lines.map((line) => ({ ...line, units: used[line.kind] < 0n ? 0n : used[line.kind] }));
}
