import type pg from 'pg';
import type { Horizon } from '../horizon.js';

/** The time that an export is of, as the database writes it: recorded from inclusive, to exclusive. */
export interface Range {
  from: string;
  to: string;
  /** The first and last day of UTC that have a part in it. */
  firstDay: string;
  lastDay: string;
}

/** Null: nothing was recorded in it. */
export async function readRange(
  client: pg.ClientBase,
  horizon: Horizon,
  query: { from: Date | null; to: Date | null },
): Promise<Range | null> {
  const { rows } = await client.query<Range & { isEmpty: boolean }>(
    `SELECT "from"::text, "to"::text, "from"::date::text AS "firstDay", ("to" - interval '1 microsecond')::date::text AS "lastDay",
       "from" >= "to" AS "isEmpty"
     FROM (SELECT greatest($1::timestamptz, coalesce((SELECT min(day) - 1 FROM ledger_snapshot_days)::timestamptz,
           (SELECT min(recorded_at) FROM ledger_transactions))) AS "from",
         least($2::timestamptz, $3::timestamptz) AS "to") AS times
     WHERE "from" IS NOT NULL AND "to" > '-infinity'`,
    [query.from ?? '-infinity', query.to ?? 'infinity', horizon.at],
  );
  const row = rows[0];
  return row && !row.isEmpty ? row : null;
}

/** SQL of a condition: transactions t recorded on a day within a range, which are SQL of texts themselves. */
export function onDay(from: string, to: string, day: string): string {
  return `t.recorded_at >= greatest(${from}::timestamptz, ${day}::date::timestamptz)
    AND t.recorded_at < least(${to}::timestamptz, (${day}::date + 1)::timestamptz)`;
}

export function dayAfter(day: string): string {
  return new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
}
