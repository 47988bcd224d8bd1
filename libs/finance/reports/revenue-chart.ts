import type pg from 'pg';
import { atHorizon } from '#ledger/postings/horizon.js';
import { RECOGNISED_FACTS } from './recognised-days.js';
import type { Days } from './revenue.js';
import { REVENUE_CHART_FACTS } from './revenue-days.js';

export const revenueSubjects = ['model', 'family', 'group', 'channel'] as const;
export type RevenueSubject = (typeof revenueSubjects)[number];

export type RevenueFilter = Partial<Record<RevenueSubject, string | undefined>>;

export interface RevenueChartQuery extends Days {
  by: RevenueSubject;
  filter: RevenueFilter;
}

/** Counts, nanos of credits, and nanos of upstream costs. */
export interface RevenueSums {
  charges: bigint;
  failedCharges: bigint;
  /** Less refunds. */
  net: bigint;
  refunds: bigint;
  /** Of delivered and of failed work. */
  cost: bigint;
  /** Minor units of the payment currency. Null if unknown, because revenue is posted by type only. */
  recognisedMinor: bigint | null;
}

/** A model, type, group or channel: '' for work without one, null for all that are not among the largest. */
type OfSubject = RevenueSums & { subject: string | null };

interface RevenueChart {
  total: RevenueSums;
  /** Totals of the previous period of the same length. */
  before: RevenueSums;
  /** The largest first. */
  subjects: (OfSubject & { before: RevenueSums })[];
  /** Each day, even without activity. `before` is the same day of the previous period. */
  points: { day: string; before: RevenueSums; subjects: OfSubject[] }[];
}

/** Subjects shown by name, largest first. The rest are summed as one. */
const MOST_SUBJECTS = 20;
const DAY_MS = 86_400_000;

const COLUMNS: Record<RevenueSubject, string> = {
  model: 'model_id',
  family: 'family',
  group: 'group_name',
  channel: `coalesce(channel_id, '')`,
};

const SUMS = `sum(charges)::bigint AS charges, sum(failed_charges)::bigint AS "failedCharges", sum(net)::bigint AS net,
  sum(refunds)::bigint AS refunds, sum(cost)::bigint AS cost`;

/** $3: the first requested day. Earlier days are for comparison. */
const earnedSql = (by: RevenueSubject) => `
  WITH parts AS MATERIALIZED (
    SELECT day, ${COLUMNS[by]} AS subject, sum(charges) AS charges, sum(failed_charges) AS failed_charges,
      sum(gross - refunds) AS net, sum(refunds) AS refunds, sum(cost + failed_cost) AS cost
    FROM (${REVENUE_CHART_FACTS}) AS facts
    WHERE ($4::text IS NULL OR model_id = $4) AND ($5::text IS NULL OR family = $5)
      AND ($6::text IS NULL OR group_name = $6) AND ($7::text IS NULL OR coalesce(channel_id, '') = $7)
    GROUP BY 1, 2),
  largest AS (
    SELECT subject FROM parts WHERE day >= $3::date GROUP BY subject
    ORDER BY sum(net) DESC, sum(charges) DESC, subject LIMIT ${MOST_SUBJECTS})
  SELECT day::text, CASE WHEN subject IN (SELECT subject FROM largest) THEN subject END AS subject, ${SUMS}
  FROM parts GROUP BY 1, 2`;

const RECOGNISED = `SELECT day::text, family AS subject, sum(minor)::bigint AS minor FROM (${RECOGNISED_FACTS}) AS facts
  WHERE $3::text IS NULL OR family = $3 GROUP BY 1, 2`;

interface Part extends OfSubject {
  day: string;
}

/**
 * Revenue and cost by day and subject, with the previous period. Past days are read from sums, so the query grows only with the
 * number of days and types of work, and with what is not summed yet.
 */
export function readRevenueChart(pool: pg.Pool, query: RevenueChartQuery): Promise<RevenueChart> {
  return atHorizon(pool, async (client) => chartOf(await partsOf(client, query), query));
}

async function partsOf(client: pg.ClientBase, query: RevenueChartQuery): Promise<Part[]> {
  const { from, to, by, filter } = query;
  const { model = null, family = null, group = null, channel = null } = filter;
  const first = dayAfter(from, -daysIn(query));
  await client.query('SET LOCAL enable_seqscan = off');
  const values = [first, to, from, model, family, group, channel];
  const { rows } = await client.query<Omit<Part, 'recognisedMinor'>>(earnedSql(by), values);
  const isKnown = isRecognisedKnown(filter);
  const recognisedMinor = isKnown ? 0n : null;
  const parts = rows.map((row) => ({ ...row, recognisedMinor }));
  return isKnown ? [...parts, ...(await recognisedOf(client, [first, to, family], by))] : parts;
}

/** Recognised revenue is posted by type only. '' is also a filter: for work without one. */
function isRecognisedKnown({ model, group, channel }: RevenueFilter): boolean {
  return model === undefined && group === undefined && channel === undefined;
}

const NOTHING = { charges: 0n, failedCharges: 0n, net: 0n, refunds: 0n, cost: 0n };

/** Unless grouped by type it belongs to no subject and only counts in totals. */
async function recognisedOf(
  client: pg.ClientBase,
  values: readonly (string | null)[],
  by: RevenueSubject,
): Promise<Part[]> {
  const { rows } = await client.query<{ day: string; subject: string; minor: bigint }>(RECOGNISED, [
    ...values,
  ]);
  return rows.map(({ day, subject, minor }) => ({
    day,
    subject: by === 'family' ? subject : NO_SUBJECT,
    ...NOTHING,
    recognisedMinor: minor,
  }));
}

/** For amounts that only totals have. No name begins with a space. */
const NO_SUBJECT = ' none';

function chartOf(parts: readonly Part[], query: RevenueChartQuery): RevenueChart {
  const { from, by, filter } = query;
  const length = daysIn(query);
  const isKnown = isRecognisedKnown(filter);
  const sums = (of: readonly Part[]) => totalOf(of, isKnown);
  const ofSubject = (of: readonly Part[]) => totalOf(of, isKnown && by === 'family');
  const now = parts.filter(({ day }) => day >= from);
  const earlier = parts.filter(({ day }) => day < from);
  const earlierOf = Map.groupBy(earlier, ({ subject }) => subject);
  const [nowAt, earlierAt] = [now, earlier].map((some) => Map.groupBy(some, ({ day }) => day));
  return {
    total: sums(now),
    before: sums(earlier),
    subjects: bySubject(now, ofSubject).map((each) => ({
      ...each,
      before: ofSubject(earlierOf.get(each.subject) ?? []),
    })),
    points: Array.from({ length }, (_, place) => ({
      day: dayAfter(from, place),
      before: sums(earlierAt!.get(dayAfter(from, place - length)) ?? []),
      subjects: bySubject(nowAt!.get(dayAfter(from, place)) ?? [], ofSubject),
    })),
  };
}

/** The largest first, the others last. */
function bySubject(parts: readonly Part[], sums: (of: readonly Part[]) => RevenueSums): OfSubject[] {
  return [...Map.groupBy(parts, ({ subject }) => subject)]
    .filter(([subject]) => subject !== NO_SUBJECT)
    .map(([subject, of]) => ({ subject, ...sums(of) }))
    .sort((a, b) => {
      if (a.subject === null || b.subject === null) return a.subject === null ? 1 : -1;
      return a.net === b.net ? Number(b.charges - a.charges) : a.net < b.net ? 1 : -1;
    });
}

function totalOf(parts: readonly Part[], isKnown: boolean): RevenueSums {
  const sum = (of: (part: Part) => bigint | null) =>
    parts.reduce((total, part) => total + (of(part) ?? 0n), 0n);
  return {
    charges: sum(({ charges }) => charges),
    failedCharges: sum(({ failedCharges }) => failedCharges),
    net: sum(({ net }) => net),
    refunds: sum(({ refunds }) => refunds),
    cost: sum(({ cost }) => cost),
    recognisedMinor: isKnown ? sum(({ recognisedMinor }) => recognisedMinor) : null,
  };
}

export function daysIn({ from, to }: Days): number {
  return (Date.parse(to) - Date.parse(from)) / DAY_MS;
}

function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
}
