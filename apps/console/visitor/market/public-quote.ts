import { useShown } from '../../api/client.js';
import type { paths } from '../../api/schema.js';
import { addDecimals, compareDecimals } from '../../ui/decimal.js';
import { amountOf } from '../../user/usage/recompute.js';

type Quoted = paths['/api/public/quote']['get'];

/** Work to price: a model, a group and its units. */
export type PricedWork = NonNullable<Quoted['parameters']['query']>;
export type PublicQuote = Quoted['responses'][200]['content']['application/json'];

/** Priced by the code that charges; null asks for nothing. */
export function usePublicQuote(work: PricedWork | null) {
  const params = { query: work ?? { model: '', group: '' } };
  return useShown('/api/public/quote', params, { enabled: work !== null });
}

/** Computed here, to compare with the relay. */
export function linesOfQuote({ units, unitPrice, multiplier, lines }: PublicQuote) {
  const priced = lines?.map((line) => ({
    kind: line.kind,
    units: line.units,
    unitPrice: line.unitPrice,
  })) ?? [{ kind: null, units, unitPrice: unitPrice ?? '0' }];
  return priced.map((line) => ({ ...line, amount: amountOf(line, multiplier) }));
}

export function isVerified(quote: PublicQuote): boolean {
  const sum = addDecimals(...linesOfQuote(quote).map(({ amount }) => amount));
  return compareDecimals(sum, quote.amount) === 0;
}
