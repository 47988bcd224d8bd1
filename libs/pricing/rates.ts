import type { Decimal } from '#money/amount.js';

/**
 * What a request may ask for that vendors price apart, each with what a request asks for that leaves it out: `auto` is the
 * vendor's own choice. The database function rated_price() has the same defaults.
 */
const DEFAULTS = {
  size: 'auto',
  quality: 'auto',
  resolution: 'auto',
  input: 'none',
  mode: 'draft',
  audio: 'on',
  length: 'auto',
};

export type DimensionName = keyof typeof DEFAULTS;

/** What a request asks for, in lower case; what it leaves out is not there. */
export interface Dimensions {
  /** Of an image: `1024x1024`, or an aspect ratio where no size is given. */
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
  readonly resolution?: string | undefined;
  /** Whether images are handed over. */
  readonly input?: 'none' | 'image' | undefined;
  /** Of a 3D asset. */
  readonly mode?: 'draft' | 'texture' | undefined;
  /** Of a video. */
  readonly audio?: 'on' | 'off' | undefined;
  /** Of a video, in seconds: no request says it here, since it is the number of its units. */
  readonly length?: string | undefined;
}

/** Another price of a unit, for requests that ask for every value of `when`. */
export interface Rate {
  readonly when: Dimensions;
  readonly unitPrice: Decimal;
}

/** The first rate that applies to a request. */
export function rateFor(rates: readonly Rate[], asked: Dimensions): Rate | undefined {
  return rates.find(({ when }) => entriesOf(when).every(([name, value]) => valueOf(asked, name) === value));
}

/** The values of a rate in a fixed order, as `size=1024x1024 quality=high`. */
export function whenText(when: Dimensions): string {
  return entriesOf(when)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

/** The place of the first of the earlier rates that applies wherever one does; -1 where that one can apply. */
export function hiddenBy(rates: readonly Pick<Rate, 'when'>[], at: number): number {
  const { when: wanted } = rates[at] ?? { when: {} };
  return rates
    .slice(0, at)
    .findIndex(({ when }) => entriesOf(when).every(([name, value]) => wanted[name] === value));
}

/** The dimensions that some rate names. */
export function ratedDimensions(rates: readonly Pick<Rate, 'when'>[]): DimensionName[] {
  return [...new Set(rates.flatMap(({ when }) => entriesOf(when).map(([name]) => name)))];
}

function valueOf(asked: Dimensions, name: DimensionName): string {
  return asked[name] ?? DEFAULTS[name];
}

function entriesOf(when: Dimensions): [DimensionName, string][] {
  // A name that a newer version knows is kept: no request of ours asks for it, so its rate must not apply.
  const names = new Set([...Object.keys(DEFAULTS), ...Object.keys(when)]) as Set<DimensionName>;
  return [...names].flatMap((name): [DimensionName, string][] => {
    const value = when[name];
    return value === undefined ? [] : [[name, value]];
  });
}
