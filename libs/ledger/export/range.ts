import type pg from 'pg';
import type { Horizon } from '../postings/horizon.js';
import type { TimeOf, TrialBalanceQuery } from '../reports/trial-balance.js';

export interface RangeQuery {
  /** The time of postings that counts. Default: recorded. */
  by?: TimeOf;
  /** From (inclusive) to (exclusive). Null means from the beginning, or up to the horizon. */
  from: Date | null;
  to: Date | null;
  /** By effective time: only what was recorded before this time, as the books were known then. Text or Date. */
  recordedBefore?: string | Date | null;
}

/** The range of an export as PostgreSQL text: from (inclusive) to (exclusive). */
export interface Range {
  by: TimeOf;
  from: string;
  to: string;
  /** For effective time. By recorded time it equals `to`. */
  recordedBefore: string;
  /** The first and last UTC day in the range. */
  firstDay: string;
  lastDay: string;
}

/** Null if the range is empty, or ends before the first posting. */
export async function readRange(
  client: pg.ClientBase,
  horizon: Horizon,
  query: RangeQuery,
): Promise<Range | null> {
  const { by = 'recorded', from, to, recordedBefore = null } = query;
  const { rows } = await client.query<Omit<Range, 'by'> & { isEmpty: boolean }>(
    `SELECT "from"::text, "to"::text, known::text AS "recordedBefore", "from"::date::text AS "firstDay",
       ("to" - interval '1 microsecond')::date::text AS "lastDay", "from" >= "to" AS "isEmpty"
     FROM (${by === 'recorded' ? RECORDED : EFFECTIVE}) AS times`,
    [from ?? '-infinity', to, horizon.at, ...(by === 'recorded' ? [] : [recordedBefore])],
  );
  const row = rows[0];
  if (!row || row.isEmpty) return null;
  const { isEmpty: _, ...range } = row;
  return { by, ...range };
}

const RECORDED = `
SELECT greatest($1::timestamptz, first) AS "from", least($2::timestamptz, $3::timestamptz) AS "to",
  least($2::timestamptz, $3::timestamptz) AS known
FROM (SELECT coalesce((SELECT min(day) - 1 FROM ledger_snapshot_days)::timestamptz,
    (SELECT min(recorded_at) FROM ledger_transactions)) AS first) AS begun WHERE first IS NOT NULL`;

/**
 * Nothing is effective much later than it is recorded, unless a clock was set back behind a close: then it is effective at the end
 * of that close. So a range that ends far in the future still has a last day.
 */
const EFFECTIVE = `
SELECT greatest($1::timestamptz, first) AS "from",
  least(coalesce($2::timestamptz, known), greatest(known, (SELECT max(ends_at) FROM ledger_periods WHERE state <> 'abandoned'))
    + interval '1 day') AS "to", known
FROM (SELECT known, (SELECT min(effective_at) FROM ledger_transactions WHERE recorded_at < known) AS first
  FROM (SELECT least($3::timestamptz, $4::timestamptz) AS known) AS cut) AS begun WHERE first IS NOT NULL`;

/** An SQL condition: transactions t of a day within a range, both given as SQL texts. */
export function onDay(
  by: TimeOf,
  { from, to, recordedBefore, day }: Record<'from' | 'to' | 'recordedBefore' | 'day', string>,
): string {
  const time = by === 'recorded' ? 't.recorded_at' : 't.effective_at';
  return `${time} >= greatest(${from}::timestamptz, ${day}::date::timestamptz)
    AND ${time} < least(${to}::timestamptz, (${day}::date + 1)::timestamptz)
    AND t.recorded_at < ${recordedBefore}::timestamptz`;
}

/** Ids of what was recorded on the day: nearly all in between are. Null: there are none. */
export async function idsOfDay(
  client: pg.ClientBase,
  range: Range,
  day: string,
): Promise<{ first: bigint; last: bigint } | null> {
  const { rows } = await client.query<{ first: string | null; last: string | null }>(
    // By the index of times. In the index of IDs, the first one of the day would be searched for from the ends.
    `SELECT min(t.id + 0)::text AS first, max(t.id + 0)::text AS last FROM ledger_transactions t
     WHERE ${onDay(range.by, { from: '$1', to: '$2', recordedBefore: '$2', day: '$3' })}`,
    [range.from, range.to, day],
  );
  const { first = null, last = null } = rows[0] ?? {};
  return first === null || last === null ? null : { first: BigInt(first), last: BigInt(last) };
}

/** The trial balance at the beginning of a journal's range. */
export function openingOf({ by, recordedBefore }: Range, from: Date): TrialBalanceQuery {
  return by === 'recorded' ? { by, at: from } : { by, at: from, recordedBefore };
}

export function dayAfter(day: string): string {
  return new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
}
