import type pg from 'pg';
import type { Family } from '#pricing/price-book.js';
import type { ChartSpan } from './chart-span.js';
import { NOT_SUMMED_UP } from './usage-summary.js';

export const chartSubjects = ['model', 'key', 'group', 'family'] as const;
export type ChartSubject = (typeof chartSubjects)[number];

export interface ChartFilter {
  keyId?: string | undefined;
  model?: string | undefined;
  group?: string | undefined;
  family?: Family | undefined;
}

/** Sums of ended requests; `spent` in nanos, `latencyMs` on average. */
interface ChartTotals {
  spent: bigint;
  requests: number;
  failures: number;
  latencyMs: number | null;
}

/** A model, key, group or family; '' for requests without one, null for all that are not among the largest. */
interface OfSubject extends ChartTotals {
  subject: string | null;
}

interface UsageChart {
  total: ChartTotals;
  /** The previous period, if known. */
  before: ChartTotals | null;
  /** Largest first, with `before` as above. */
  subjects: (OfSubject & { before: ChartTotals | null })[];
  /** One per step, even without usage. `before` is the same step of the previous period. */
  points: { at: Date; before: ChartTotals | null; subjects: OfSubject[] }[];
}

/** Subjects shown by name, largest first. The rest is one sum. */
const MOST_SUBJECTS = 20;

const SUBJECTS: Record<ChartSubject, string> = {
  model: 'e.model_id',
  key: 'e.key_id',
  group: `coalesce(k.group_name, '')`,
  family: `coalesce(m.family, '')`,
};

const SUMS = {
  recent: 'at FROM usage_recent WHERE account_id = $1 AND at >= $2 AND at < $3',
  days: `day::timestamp AT TIME ZONE 'UTC' AS at FROM usage_days
    WHERE account_id = $1 AND day >= ($2::timestamptz AT TIME ZONE 'UTC')::date AND day < ($3::timestamptz AT TIME ZONE 'UTC')::date`,
};

/** Steps are counted from the start of the previous period: the second half is the requested one. */
function statementOf(sums: ChartSpan['sums'], by: ChartSubject): string {
  return `WITH ended AS (
      SELECT key_id, model_id, requests, failures, settled, latency_ms, timed, ${SUMS[sums]}
      UNION ALL
      SELECT coalesce(key_id, ''), coalesce(model_id, ''), 1, (state = 'released')::int, coalesce(settled, 0),
        coalesce(latency_ms, 0), (latency_ms IS NOT NULL)::int, created_at
      FROM ${NOT_SUMMED_UP} AND created_at >= $2 AND created_at < $3),
    parts AS MATERIALIZED (
      SELECT floor(extract(epoch FROM e.at - $2::timestamptz) * 1000 / $4::int)::int AS step, ${SUBJECTS[by]} AS subject,
        sum(requests) AS requests, sum(failures) AS failures, sum(settled) AS settled, sum(latency_ms) AS latency_ms,
        sum(timed) AS timed
      FROM ended e LEFT JOIN api_keys k ON k.id = e.key_id LEFT JOIN models m ON m.id = e.model_id
      WHERE ($6::text IS NULL OR e.key_id = $6) AND ($7::text IS NULL OR e.model_id = $7)
        AND ($8::text IS NULL OR k.group_name = $8) AND ($9::text IS NULL OR m.family = $9)
      GROUP BY 1, 2),
    largest AS (
      SELECT subject FROM parts WHERE step >= $5::int GROUP BY subject
      ORDER BY sum(settled) DESC, sum(requests) DESC, subject LIMIT ${MOST_SUBJECTS})
    SELECT step, CASE WHEN subject IN (SELECT subject FROM largest) THEN subject END AS subject,
      sum(requests)::int AS requests, sum(failures)::int AS failures, sum(settled)::bigint AS settled,
      sum(latency_ms)::float8 AS "latencyMs", sum(timed)::int AS timed
    FROM parts GROUP BY 1, 2`;
}

interface Part {
  step: number;
  subject: string | null;
  requests: number;
  failures: number;
  settled: bigint;
  latencyMs: number;
  timed: number;
}

/**
 * An account's usage in a span of time, by step and subject, with the previous span. It reads sums, and only the newest
 * charges, which may not be summed yet. So its cost grows with the used keys and models and the requested days, not
 * with the number of requests.
 */
export async function readUsageChart(
  pool: pg.Pool,
  query: { accountId: string; span: ChartSpan; by: ChartSubject; filter: ChartFilter },
): Promise<UsageChart> {
  const { accountId, span, by, filter } = query;
  const { keyId = null, model = null, group = null, family = null } = filter;
  const begin = new Date(2 * span.from.getTime() - span.to.getTime());
  const { rows } = await pool.query<Part>({
    name: `usage-chart-${span.sums}-${by}`,
    text: statementOf(span.sums, by),
    values: [accountId, begin, span.to, span.stepMs, span.steps, keyId, model, group, family],
  });
  return chartOf(rows, span);
}

function chartOf(parts: readonly Part[], span: ChartSpan): UsageChart {
  const { steps, stepMs, isComparable } = span;
  const now = parts.filter(({ step }) => step >= steps);
  const earlier = parts.filter(({ step }) => step < steps);
  const before = (of: readonly Part[]) => (isComparable ? totalsOf(of) : null);
  const earlierOf = Map.groupBy(earlier, ({ subject }) => subject);
  const earlierAt = Map.groupBy(earlier, ({ step }) => step);
  const nowAt = Map.groupBy(now, ({ step }) => step - steps);
  return {
    total: totalsOf(now),
    before: before(earlier),
    subjects: bySubject(now).map((each) => ({ ...each, before: before(earlierOf.get(each.subject) ?? []) })),
    points: Array.from({ length: steps }, (_, step) => ({
      at: new Date(span.from.getTime() + step * stepMs),
      before: before(earlierAt.get(step) ?? []),
      subjects: bySubject(nowAt.get(step) ?? []),
    })),
  };
}

/** Largest first, the others last. */
function bySubject(parts: readonly Part[]): OfSubject[] {
  return [...Map.groupBy(parts, ({ subject }) => subject)]
    .map(([subject, of]) => ({ subject, ...totalsOf(of) }))
    .sort((a, b) => {
      if (a.subject === null || b.subject === null) return a.subject === null ? 1 : -1;
      return a.spent === b.spent ? b.requests - a.requests : a.spent < b.spent ? 1 : -1;
    });
}

function totalsOf(parts: readonly Part[]): ChartTotals {
  const sum = (of: (part: Part) => number) => parts.reduce((total, part) => total + of(part), 0);
  const timed = sum((part) => part.timed);
  return {
    spent: parts.reduce((total, { settled }) => total + settled, 0n),
    requests: sum(({ requests }) => requests),
    failures: sum(({ failures }) => failures),
    latencyMs: timed === 0 ? null : Math.round(sum(({ latencyMs }) => latencyMs) / timed),
  };
}
