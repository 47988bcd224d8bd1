import { orderOfDecimals, type Decimal } from '#money/amount.js';

/** What decides among the channels of a model that have the same priority. */
export const routings = ['priority', 'cost', 'latency'] as const;
export type Routing = (typeof routings)[number];

interface Ranked {
  readonly priority: number;
  readonly weight: number;
}

interface Order<C> {
  readonly routing: Routing;
  /** What the upstream takes, or how long it takes; null where it is not known. */
  readonly figureOf: (channel: C) => Decimal | null;
  /** A number from 0 to 1 each time: the same one each time gives the most likely order. */
  readonly chance?: (() => number) | undefined;
}

/** Of the calls that go by latency, this share goes by weight: a channel that nobody called has no figure, or an old one. */
const EXPLORED = 0.1;

/**
 * The channels in the order in which a call tries them: the highest priority first, then the lowest figure if the model is
 * routed by one, then by weight. A figure that is not known counts as the highest.
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
