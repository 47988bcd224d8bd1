import type { Decimal } from '#money/amount.js';

/**
 * Request properties that vendors price separately, with the value of a request that omits them: `auto` is the vendor's
 * own choice. The database function rated_price() has the same defaults.
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

/** The properties of a request, in lower case, without omitted ones. */
export interface Dimensions {
  /** For an image: `1024x1024`, or an aspect ratio if no size is given. */
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
  readonly resolution?: string | undefined;
  /** Whether there are input images. */
  readonly input?: 'none' | 'image' | undefined;
  /** For a 3D asset. */
  readonly mode?: 'draft' | 'texture' | undefined;
  /** For a video. */
  readonly audio?: 'on' | 'off' | undefined;
  /** For a video, in seconds. Requests do not give it here, because it is their number of units. */
  readonly length?: string | undefined;
}

/** Another unit price, for requests with every value of `when`. */
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

/** The position of the first earlier rate that applies whenever this one does; -1 if this one can apply. */
export function hiddenBy(rates: readonly Pick<Rate, 'when'>[], at: number): number {
  const { when: wanted } = rates[at] ?? { when: {} };
  return rates
    .slice(0, at)
    .findIndex(({ when }) => entriesOf(when).every(([name, value]) => wanted[name] === value));
}

/** The properties that some rate names. */
export function ratedDimensions(rates: readonly Pick<Rate, 'when'>[]): DimensionName[] {
  return [...new Set(rates.flatMap(({ when }) => entriesOf(when).map(([name]) => name)))];
}

function valueOf(asked: Dimensions, name: DimensionName): string {
  return asked[name] ?? DEFAULTS[name];
}

function entriesOf(when: Dimensions): [DimensionName, string][] {
  // A name from a newer version is kept. No request here has it, so its rate must not apply.
  const names = new Set([...Object.keys(DEFAULTS), ...Object.keys(when)]) as Set<DimensionName>;
  return [...names].flatMap((name): [DimensionName, string][] => {
    const value = when[name];
    return value === undefined ? [] : [[name, value]];
  });
}
