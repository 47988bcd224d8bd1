import { families } from '../../api/enumerations.js';
import { addDays, timesOf, today } from '../../finance/utc-days.js';
import { anyDay, anyGroup, anyId, anyModel, oneOf, type SearchOf } from '../../ui/search.js';

export const usageRanges = ['1h', '24h', '7d', '30d', '90d'] as const;
export const usageSubjects = ['model', 'key', 'group', 'family'] as const;
export const usageMetrics = ['spent', 'requests', 'failures', 'latency'] as const;
export type UsageSubject = (typeof usageSubjects)[number];
export type UsageMetric = (typeof usageMetrics)[number];

const USUAL_RANGE = '30d';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LENGTHS_MS = { '1h': HOUR_MS, '24h': DAY_MS, '7d': 7 * DAY_MS, '30d': 30 * DAY_MS, '90d': 90 * DAY_MS };
const FIVE_MINUTES_MS = 300_000;
/** The server's limits: days per chart, and days kept. */
const MOST_DAYS = 92;
const KEPT_DAYS = 183;

export const usageSearch = {
  /** 30d when left out. */
  range: oneOf('1h', '24h', '7d', '90d'),
  /** UTC days in place of a range. */
  from: anyDay,
  to: anyDay,
  /** By model when left out. */
  by: oneOf('key', 'group', 'family'),
  /** Spent when left out. */
  show: oneOf('requests', 'failures', 'latency'),
  keyId: anyId,
  model: anyModel,
  group: anyGroup,
  family: oneOf(...families),
};

export type UsageSearch = SearchOf<typeof usageSearch>;

/** Shared by the chart and the log. */
export function workFilter({
  keyId,
  model,
  group,
  family,
}: Pick<UsageSearch, 'keyId' | 'model' | 'group' | 'family'>) {
  return { keyId, model, group, family };
}

/** Null: days were chosen instead. */
export function rangeOf({ range, from }: UsageSearch): (typeof usageRanges)[number] | null {
  return from === undefined ? (range ?? USUAL_RANGE) : null;
}

/** Null if there is no chart for these days. */
export function chartQuery(search: UsageSearch) {
  const { from, to = from } = search;
  const by: UsageSubject = search.by ?? 'model';
  const range = rangeOf(search);
  if (range !== null) return { ...workFilter(search), by, range };
  const isKept = from! >= addDays(today(), -KEPT_DAYS);
  const isShort = from! <= to! && to! < addDays(from!, MOST_DAYS);
  return isKept && isShort ? { ...workFilter(search), by, from, to } : null;
}

interface Times {
  range?: (typeof usageRanges)[number] | undefined;
  from?: string | undefined;
  to?: string | undefined;
  at?: string | undefined;
}

/** For a chart, for one of its steps, or without limits. */
export function requestTimes(search: Times, nowMs: number): { from?: string; to?: string } {
  const { at, from, to = from, range } = search;
  const startMs = Date.parse(at ?? '');
  if (Number.isFinite(startMs)) return { from: isoOf(startMs), to: isoOf(startMs + stepMs(range)) };
  if (from !== undefined) return timesOf({ from, to });
  if (range === undefined) return {};
  const step = stepMs(range);
  return { from: isoOf((Math.floor(nowMs / step) + 1) * step - LENGTHS_MS[range]) };
}

/** As the server divides the chart. */
function stepMs(range: Times['range']): number {
  if (range === '1h') return FIVE_MINUTES_MS;
  return range === '24h' ? HOUR_MS : DAY_MS;
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
