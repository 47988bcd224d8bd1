import type { Decimal } from '#money/amount.js';
import { changeDecimals, type PriceChange, changeSubject, whensOf } from './price-change.js';

/** A new value of one subject with the one that it is compared with. */
export interface PriceMove {
  readonly before: PriceChange | null;
  readonly after: PriceChange;
}

/** Exact, above 0. */
interface Ratio {
  readonly above: bigint;
  readonly below: bigint;
}

interface Span {
  readonly low: Ratio;
  readonly high: Ratio;
}

/** As a multiplier. */
export const LIST_PRICE = '1';

const SAME: Ratio = { above: 1n, below: 1n };
const NO_MOVE: Span = { low: SAME, high: SAME };

/** The conditions under which new values need a second person. */
export const largeMoveCodes = [
  'moves_far',
  'is_zero',
  'was_zero',
  'nothing_before',
  'new_fixed_price',
  'ends_fixed_price',
  'other_rates',
  'other_kind',
] as const;

/** Why a second person must confirm new values. */
export interface LargeMove {
  readonly code: (typeof largeMoveCodes)[number];
  /** The subject; null for `moves_far`, which adds up. */
  readonly change: PriceChange | null;
  /** How far one person may move prices. */
  readonly percent: number;
  /** A sentence. */
  readonly message: string;
}

const FAULTS = {
  is_zero: 'is 0',
  was_zero: 'was 0 before',
  nothing_before: 'has no value before that it is measured by',
  new_fixed_price: 'is a new fixed price',
  ends_fixed_price: 'ends a fixed price',
  other_rates: 'has other rates than the one before',
  other_kind: 'is of another kind than the one before',
} as const satisfies Record<Exclude<LargeMove['code'], 'moves_far'>, string>;

/**
 * Why a second person must confirm new values, or null: a price or multiplier of 0, one without a previous value to
 * compare with, one with rates for other values, a fixed price that starts or ends, and moves beyond a percentage.
 * Prices and multipliers multiply, as in what a customer pays.
 * @param earlier what the same person moved before on the same day, which adds up
 */
export function largeMove(
  moves: readonly PriceMove[],
  earlier: readonly PriceMove[],
  percent: bigint,
): LargeMove | null {
  const limit = Number(percent);
  for (const move of moves) {
    const code = withoutMeasure(move);
    if (code === null) continue;
    const message = `The ${changeSubject(move.after)} ${FAULTS[code]}.`;
    return { code, change: move.after, percent: limit, message };
  }
  const spans = [...moves, ...earlier].map((move) => ({ kind: move.after.kind, span: spanOf(move) }));
  const widest = (kinds: readonly string[]) =>
    spans.filter(({ kind }) => kinds.includes(kind)).reduce((all, { span }) => wider(all, span), NO_MOVE);
  const [price, multiplier] = [widest(['price', 'rule']), widest(['multiplier'])];
  const low = times(price.low, multiplier.low);
  const high = times(price.high, multiplier.high);
  const isLow = low.above * 100n < low.below * (100n - percent);
  const isHigh = high.above * 100n > high.below * (100n + percent);
  if (!isLow && !isHigh) return null;
  const message = `This moves prices by more than ${percent} percent within a day.`;
  return { code: 'moves_far', change: null, percent: limit, message };
}

/** The first multiplier of a group, which is compared with the list price. */
export function beginningOf(group: string, multiplier: string): PriceMove {
  const at = (value: string) => ({ kind: 'multiplier', group, multiplier: value }) as const;
  return { before: at(LIST_PRICE), after: at(multiplier) };
}

function withoutMeasure({ before, after }: PriceMove): keyof typeof FAULTS | null {
  const wanted = changeDecimals(after);
  const known = before && changeDecimals(before);
  if (wanted?.some(isZero)) return 'is_zero';
  if (after.kind === 'rule' && wanted === null) return known ? 'ends_fixed_price' : null;
  if (wanted === null) return null;
  if (!known) return after.kind === 'rule' ? 'new_fixed_price' : 'nothing_before';
  if (before && whensOf(before) !== whensOf(after)) return 'other_rates';
  if (known.length !== wanted.length) return 'other_kind';
  return known.some(isZero) ? 'was_zero' : null;
}

/** Unknown if it cannot be compared, or is withdrawn. */
function spanOf({ before, after }: PriceMove): Span {
  const wanted = changeDecimals(after) ?? [];
  const known = (before && changeDecimals(before)) ?? [];
  if (wanted.length !== known.length) return NO_MOVE;
  return wanted.reduce<Span>((all, to, at) => {
    const from = known[at] as Decimal;
    if (isZero(to) || isZero(from)) return all;
    const above = to.digits * 10n ** BigInt(from.scale);
    const ratio = { above, below: from.digits * 10n ** BigInt(to.scale) };
    return wider(all, { low: ratio, high: ratio });
  }, NO_MOVE);
}

function wider(a: Span, b: Span): Span {
  return { low: isLess(b.low, a.low) ? b.low : a.low, high: isLess(a.high, b.high) ? b.high : a.high };
}

function isLess(a: Ratio, b: Ratio): boolean {
  return a.above * b.below < b.above * a.below;
}

function times(a: Ratio, b: Ratio): Ratio {
  return { above: a.above * b.above, below: a.below * b.below };
}

function isZero({ digits }: Decimal): boolean {
  return digits === 0n;
}
