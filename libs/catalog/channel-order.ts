import { orderOfDecimals, type Decimal } from '#money/amount.js';

/** What decides among a model's channels of the same priority. */
export const routings = ['priority', 'cost', 'latency'] as const;
export type Routing = (typeof routings)[number];

interface Ranked {
  readonly priority: number;
  readonly weight: number;
}

interface Order<C> {
  readonly routing: Routing;
  /** The upstream's price, or its latency; null if unknown. */
  readonly figureOf: (channel: C) => Decimal | null;
  /** Returns a number from 0 to 1. A constant gives the most likely order. */
  readonly chance?: (() => number) | undefined;
}

/**
 * This share of the calls that are routed by latency uses weights, because a channel without calls has no measurement,
 * or an old one.
 */
const EXPLORED = 0.1;

/**
 * The channels in the order in which a call tries them: the highest priority first, then the lowest figure if the model
 * is routed by one, then by weight. An unknown figure counts as the highest.
 */
export function inOrder<C extends Ranked>(
  channels: readonly C[],
  { routing, figureOf, chance = Math.random }: Order<C>,
): C[] {
  const isByFigure = routing === 'cost' || (routing === 'latency' && chance() >= EXPLORED);
  return channels
    .map((channel) => ({ channel, figure: figureOf(channel), draw: chance() ** (1 / channel.weight) }))
    .sort(
      (a, b) =>
        b.channel.priority - a.channel.priority ||
        (isByFigure ? compareFigures(a.figure, b.figure) : 0) ||
        b.draw - a.draw,
    )
    .map(({ channel }) => channel);
}

function compareFigures(a: Decimal | null, b: Decimal | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return orderOfDecimals(a, b);
}
