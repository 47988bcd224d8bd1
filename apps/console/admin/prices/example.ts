import type { Shape } from '../../api/client.js';
import { addDecimals, multiplyDecimals, roundUp } from '../../ui/decimal.js';
import type { Change } from '../catalog.js';

/** A video of eight seconds, a thousand tokens each way, or a single call. */
const SECONDS = '8';
const THOUSAND_OF_A_MILLION = '0.001';
const NANOS = 9;

/** What a typical request costs at list price; null without a price. */
export function exampleOf(change: Change | null, { unit }: Pick<Shape<'Model'>, 'unit'>): string | null {
  if (change?.kind !== 'price' || change.price === null) return null;
  const { price } = change;
  if ('unitPrice' in price)
    return rounded(unit === 'second' ? multiplyDecimals(price.unitPrice, SECONDS) : price.unitPrice);
  const lines = [price.input, price.output].map((each) =>
    rounded(multiplyDecimals(each, THOUSAND_OF_A_MILLION)),
  );
  return addDecimals(...lines);
}

/** Each line of a charge is rounded up separately. */
function rounded(amount: string): string {
  return roundUp(amount, NANOS);
}
