import { $api } from '../../api/client.js';
import { keepShown } from '../../api/queries.js';
import type { paths } from '../../api/schema.js';
import { addDecimals, compareDecimals } from '../../ui/decimal.js';
import { amountOf } from '../../user/usage/recompute.js';

type Quoted = paths['/api/public/quote']['get'];

/** Work as the relay prices it: of a model, in a group, in the units of the model. */
export type PricedWork = NonNullable<Quoted['parameters']['query']>;
export type PublicQuote = Quoted['responses'][200]['content']['application/json'];

/** What work costs, from the code that charges it; null asks for nothing. */
export function usePublicQuote(work: PricedWork | null) {
  const params = { query: work ?? { model: '', group: '' } };
  return $api.useQuery('get', '/api/public/quote', { params }, { enabled: work !== null, ...keepShown });
}

/** Units × unit price × multiplier of each line, computed here. */
export function linesOfQuote({ units, unitPrice, multiplier, lines }: PublicQuote) {
  const priced = lines?.map((line) => ({
    kind: line.kind,
    units: line.units,
    unitPrice: line.unitPrice,
  })) ?? [{ kind: null, units, unitPrice: unitPrice ?? '0' }];
  return priced.map((line) => ({ ...line, amount: amountOf(line, multiplier) }));
}

/** Whether this browser comes to what the relay says. */
export function isVerified(quote: PublicQuote): boolean {
  const sum = addDecimals(...linesOfQuote(quote).map(({ amount }) => amount));
  return compareDecimals(sum, quote.amount) === 0;
}
