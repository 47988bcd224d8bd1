import { expect, it } from 'vitest';
import { type Decimal, parseDecimal } from '#money/amount.js';
import { type Catalog, type Channel, routeOf } from './catalog.js';
import { inOrder, type Routing } from './channel-order.js';

interface Named {
  id: string;
  priority: number;
  weight: number;
  figure: Decimal | null;
}

/** `name priority weight figure`. Without a figure, it is not known. */
function ranked(text: string): Named {
  const [id = '', priority, weight, figure] = text.split(' ');
  const known = figure === undefined ? null : parseDecimal(figure);
  return { id, priority: Number(priority), weight: Number(weight), figure: known };
}

const orderOf = (channels: readonly Named[], routing: Routing, chance?: () => number) =>
  inOrder(channels, { routing, figureOf: ({ figure }) => figure, chance })
    .map(({ id }) => id)
    .join(' ');

/** Numbers that look random but are the same each time. */
function dice(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

it.each<[string, Routing, string[], string]>([
  ['the priority', 'priority', ['a 0 1', 'b 2 1', 'c 1 1'], 'b c a'],
  ['the weight', 'priority', ['a 0 1', 'b 0 9', 'c 0 3'], 'b c a'],
  ['no figure', 'priority', ['a 0 1 0.01', 'b 0 9 0.09'], 'b a'],
  ['the cost', 'cost', ['a 0 9 0.03', 'b 0 1 0.02', 'c 0 1 0.1'], 'b a c'],
  [
    'the cost as a number, not as a text',
    'cost',
    ['a 0 1 10', 'b 0 1 9.5', 'c 0 1 0.000000000000000001'],
    'c b a',
  ],
  ['a cost of nothing', 'cost', ['a 0 1 0.001', 'b 0 1 0'], 'b a'],
  ['a cost before none that is known', 'cost', ['a 0 9', 'b 0 1 1000', 'c 0 5'], 'b a c'],
  ['the weight where costs are equal', 'cost', ['a 0 1 0.50', 'b 0 9 0.5'], 'b a'],
  ['the weight where no cost is known', 'cost', ['a 0 1', 'b 0 9'], 'b a'],
  ['the priority before the cost', 'cost', ['a 0 1 0.01', 'b 1 1 5', 'c 1 1'], 'b c a'],
  ['the latency', 'latency', ['a 0 9 900', 'b 0 1 80', 'c 0 1 1000'], 'b a c'],
  ['the priority before the latency', 'latency', ['a 0 1 5', 'b 1 1'], 'b a'],
  ['nothing where there is nobody', 'cost', [], ''],
])('follows %s', (_what, routing, channels, order) => {
  const all = channels.map(ranked);
  expect(orderOf(all, routing, () => 0.5)).toBe(order);
  expect(orderOf(all.toReversed(), routing, () => 0.5)).toBe(order);
});

it('divides calls by weight', () => {
  const chance = dice();
  const all = ['a 0 1', 'b 0 3'].map(ranked);
  const first = Array.from({ length: 2_000 }, () => orderOf(all, 'priority', chance)[0]);
  expect(first.filter((id) => id === 'b').length / 2_000).toBeCloseTo(0.75, 1);
});

it('occasionally tries each channel if routed by latency, however slow, but never another priority first', () => {
  const chance = dice();
  const all = ['best 0 1 10', 'slow 0 1 99999', 'new 0 1', 'fallback -1 1 1'].map(ranked);
  const orders = Array.from({ length: 3_000 }, () => orderOf(all, 'latency', chance));
  const share = (id: string) => orders.filter((order) => order.startsWith(id)).length / 3_000;
  for (const id of ['slow', 'new']) {
    expect(share(id)).toBeGreaterThan(0.02);
    expect(share(id)).toBeLessThan(0.05);
  }
  expect(orders.every((order) => order.endsWith('fallback'))).toBe(true);
});

it('never tries a more expensive channel first', () => {
  const chance = dice();
  const all = ['cheap 0 1 0.01', 'dear 0 999 0.02'].map(ranked);
  expect(new Set(Array.from({ length: 500 }, () => orderOf(all, 'cost', chance)))).toEqual(
    new Set(['cheap dear']),
  );
});

const channel = (id: string, cost?: string): Channel =>
  ({
    id,
    enabled: id !== 'off',
    priority: 0,
    weight: 1,
    models: new Map([
      ['m', 'm'],
      ['alias', 'm'],
    ]),
    costs: new Map(cost === undefined ? [] : [['m', parseDecimal(cost)]]),
    groups: new Set(id === 'elsewhere' ? ['other'] : ['g', 'other']),
  }) as unknown as Channel;

const catalogWith = (routing: Routing) =>
  ({
    models: new Map([
      ['m', { id: 'm', aliasOf: null, routing }],
      ['alias', { id: 'alias', aliasOf: 'm', routing }],
    ]),
    channels: [
      channel('unknown'),
      channel('dear', '2'),
      channel('cheap', '1'),
      channel('off', '0'),
      channel('elsewhere', '0'),
    ],
  }) as unknown as Catalog;

it.each<[Routing, string[]]>([
  ['cost', ['cheap', 'dear', 'unknown']],
  ['latency', ['dear', 'unknown', 'cheap']],
])('routes a model, and an alias of it, by %s among the channels of a group', (routing, expected) => {
  const known: Record<string, number> = { unknown: 30, dear: 7 };
  for (const model of ['m', 'alias']) {
    const latencyMs = (id: string, of: string) => (of === 'm' ? (known[id] ?? null) : 1);
    const route = routeOf(catalogWith(routing), { model, group: 'g', latencyMs, chance: () => 0.5 });
    expect(route.map(({ id }) => id)).toEqual(expected);
  }
});

it('shows the route for all groups if none is named', () => {
  const route = routeOf(catalogWith('cost'), { model: 'm', chance: () => 0.5 });
  expect(route[0]?.id).toBe('elsewhere');
});
