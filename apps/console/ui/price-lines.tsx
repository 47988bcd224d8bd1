import type { Shape } from '../api/client.js';
import { optionalTokenNames } from '../api/token-names.js';
import type { ComponentType } from 'react';
import { Money } from './money.js';
import { RateLines } from './rate-lines.js';
import { Labelled } from './texts.js';

type ListPrice = NonNullable<Shape<'ListedModel'>['listPrice']>;

const TOKENS = ['input', 'cachedInput', 'output', ...optionalTokenNames] as const;

interface PriceLinesProps {
  price: ListPrice;
  /** What one amount is for, such as "per call". */
  unit: string | undefined;
  /** What the amounts of tokens are for, such as "per million tokens". */
  perTokens: string;
  tokens: (kind: (typeof TOKENS)[number]) => string;
  /** `BothPrices` where people decide by it. */
  amount?: ComponentType<{ value: string }>;
}

/** A price with its unit: one amount, one per rate, or one per type of token. */
export function PriceLines({ price, unit, perTokens, tokens, amount: Amount = Money }: PriceLinesProps) {
  if ('unitPrice' in price && price.rates) return <RateLines price={price} unit={unit} amount={Amount} />;
  if ('unitPrice' in price)
    return (
      <span>
        <Amount value={price.unitPrice} /> <span className="one-line">{unit}</span>
      </span>
    );
  return (
    <span className="price-lines">
      {TOKENS.filter((kind) => price[kind] !== undefined).map((kind) => (
        <span key={kind}>
          <Labelled label={tokens(kind)}>
            <Amount value={price[kind]!} />
          </Labelled>
        </span>
      ))}
      <span>{perTokens}</span>
    </span>
  );
}
