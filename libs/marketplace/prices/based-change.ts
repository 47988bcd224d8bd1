import { ApiError } from '#platform/errors.js';
import { type PriceBook } from '#pricing/price-book.js';
import { versionAt } from '#groups/version.js';
import { soundOfVideos } from '#upstream/adapters.js';
import {
  changedName,
  changeFault,
  changeOf,
  newestVersion,
  type PriceChange,
  versionsOf,
} from './price-change.js';
import { type PriceFault, priceFault } from './price-fault.js';
import type { PricesHere } from './prices-here.js';
import { ratesOf } from './rates.js';

export interface ProposedChange {
  readonly change: PriceChange;
  /** The newest version of the subject when it was proposed; null if it had none. */
  readonly base: string | null;
  /** What would apply at the effective time without the change; null if nothing would. */
  readonly before: PriceChange | null;
}

/** Nobody plans prices further ahead, so a later time is a mistake. */
const FURTHEST_AHEAD_MS = 366 * 24 * 3_600_000;

/** A change with its base, at the time when it would take effect. */
export function basedChange(book: PriceBook, change: PriceChange, atMs: number): ProposedChange {
  const versions = versionsOf(book, change);
  const before = versionAt(versions, atMs);
  const base = newestVersion(versions)?.id.toString() ?? null;
  return { change, base, before: before ? changeOf(change, before.value) : null };
}

/** Why a change cannot take effect at a time, or null. */
export function faultOf(
  { book, protocols }: PricesHere,
  change: PriceChange,
  atMs: number,
): PriceFault | null {
  const isTaken = versionsOf(book, change).some((version) => version.effectiveFromMs === atMs);
  if (isTaken) return priceFault('version_at_time', { kind: change.kind, name: changedName(change) });
  return changeFault(book, change) ?? silenceFault(protocols, change);
}

/** Rates for videos without sound never apply if all channels of the model always add it. */
function silenceFault(protocols: PricesHere['protocols'], change: PriceChange): PriceFault | null {
  if (change.kind !== 'price') return null;
  const silent = ratesOf(change.price).findIndex(({ when }) => when.audio === 'off');
  const served = protocols.get(change.model) ?? [];
  const isLoud = served.length > 0 && served.every((each) => soundOfVideos(each) === 'always');
  if (silent < 0 || !isLoud) return null;
  return priceFault('rate_silent', { rate: silent, model: change.model });
}

/** When a proposal would take effect. @throws ApiError for a time that has passed or is too far ahead */
export function effectiveMs(effectiveAt: Date | null, nowMs: number): number {
  if (effectiveAt === null) return nowMs;
  const atMs = effectiveAt.getTime();
  const fault =
    atMs < nowMs
      ? 'effectiveAt: a change takes effect now or later, never in the past.'
      : atMs > nowMs + FURTHEST_AHEAD_MS
        ? 'effectiveAt: must be within a year.'
        : null;
  if (fault) throw new ApiError('invalid_value', fault, { param: 'effectiveAt' });
  return atMs;
}
