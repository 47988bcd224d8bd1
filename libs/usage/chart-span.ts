import { ApiError, invalidField } from '#platform/errors.js';
import { CHART_DAYS } from './usage-summary.js';

/** Spans that end now. Others consist of whole days. */
export const chartRanges = ['1h', '24h', '7d', '30d', '90d'] as const;
type ChartRange = (typeof chartRanges)[number];

/** A time in steps of equal length, without `to`. */
export interface ChartSpan {
  from: Date;
  to: Date;
  steps: number;
  stepMs: number;
  /** The sums that contain it. */
  sums: 'recent' | 'days';
  /** Whether the previous time of the same length is known, too. */
  isComparable: boolean;
}

/** UTC days such as 2026-01-31, both included. */
interface Days {
  from: string;
  to: string;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const STEPS: Record<ChartRange, { stepMs: number; steps: number }> = {
  '1h': { stepMs: 5 * MINUTE_MS, steps: 12 },
  '24h': { stepMs: HOUR_MS, steps: 24 },
  '7d': { stepMs: DAY_MS, steps: 7 },
  '30d': { stepMs: DAY_MS, steps: 30 },
  '90d': { stepMs: DAY_MS, steps: 90 },
};

/** The span of a range at a time. Its last step is the current one. */
export function spanOf(range: ChartRange, nowMs: number): ChartSpan {
  const { stepMs, steps } = STEPS[range];
  const toMs = (Math.floor(nowMs / stepMs) + 1) * stepMs;
  return {
    from: new Date(toMs - steps * stepMs),
    to: new Date(toMs),
    steps,
    stepMs,
    sums: stepMs < DAY_MS ? 'recent' : 'days',
    isComparable: true,
  };
}

/** The span of several days. @throws ApiError if there are too many, or they are older than what is kept */
export function spanOfDays(days: Days, nowMs: number): ChartSpan {
  const fromMs = Date.parse(days.from);
  const toMs = Date.parse(days.to) + DAY_MS;
  const steps = (toMs - fromMs) / DAY_MS;
  const keptMs = Math.floor(nowMs / DAY_MS) * DAY_MS - (2 * CHART_DAYS - 1) * DAY_MS;
  if (steps < 1 || steps > CHART_DAYS)
    throw refused(`must be a day up to to, with at most ${CHART_DAYS} days in all.`);
  if (fromMs < keptMs) throw refused(`must be at most ${2 * CHART_DAYS - 1} days ago; download the CSV.`);
  return {
    from: new Date(fromMs),
    to: new Date(toMs),
    steps,
    stepMs: DAY_MS,
    sums: 'days',
    isComparable: 2 * fromMs - toMs >= keptMs,
  };
}

function refused(rule: string): ApiError {
  return invalidField('from', rule);
}
