import type { Shape } from '../api/shape.js';
import { Money } from './money.js';

type Price = NonNullable<Shape<'ListedModel'>['listPrice']>;

const TOKENS = ['input', 'cachedInput', 'output', 'cacheWrite', 'cacheWrite1h'] as const;

interface PriceLinesProps {
  price: Price;
  /** What one amount is for, such as "per call". */
  unit: string | undefined;
  /** What the amounts of tokens are for, such as "per million tokens". */
  perTokens: string;
  tokens: (kind: (typeof TOKENS)[number]) => string;
}

/** A price with its unit: one amount, or one for each type of tokens. */
export function PriceLines({ price, unit, perTokens, tokens }: PriceLinesProps) {
  if ('unitPrice' in price)
    return (
      <span>
        <Money value={price.unitPrice} /> {unit}
      </span>
    );
  return (
    <span className="price-lines">
      {TOKENS.filter((kind) => price[kind] !== undefined).map((kind) => (
        <span key={kind}>
          {tokens(kind)}: <Money value={price[kind]!} />
        </span>
      ))}
      <span>{perTokens}</span>
    </span>
  );
}
