import { describe, expect, it } from 'vitest';
import type { Shape } from '../../api/client.js';
import { chosenModels } from './market.js';

type Model = Shape<'ListedModel'>;

function model(id: string, unit: Model['unit'], offer: string | null): Model {
  const price = (amount: string) =>
    unit === 'million_tokens' ? { input: '0', cachedInput: '0', output: amount } : { unitPrice: amount };
  const groups = offer === null ? [] : [{ group: 'Main', price: price(offer), multiplier: '1', rule: null }];
  return { id, unit, family: 'image', vendor: 'someone', listPrice: price('1'), groups } as unknown as Model;
}

const models = [
  model('not-offered', 'call', null),
  model('dear-second', 'second', '0.3'),
  model('cheap-call', 'call', '0.02'),
  model('tokens', 'million_tokens', '4'),
  model('dear-call', 'call', '0.1'),
  model('cheap-second', 'second', '0.05'),
];

describe('models by price', () => {
  it.each([
    ['price', ['cheap-call', 'dear-call', 'tokens', 'cheap-second', 'dear-second', 'not-offered']],
    ['-price', ['dear-call', 'cheap-call', 'tokens', 'dear-second', 'cheap-second', 'not-offered']],
  ])('are grouped by unit in the order %s, and those without an offer are last', (sort, ids) => {
    expect(chosenModels(models, { sort, groups: ['Main'] }).map(({ id }) => id)).toEqual(ids);
  });
});
