import type pg from 'pg';
import { ApiError } from '#platform/errors.js';

/** The requested days of a report in its own time zone: from the first, up to but not including the last. `2026-01-31`. */
export interface ReportDays {
  readonly from: string;
  readonly to: string;
}

/** The current day in a time zone, by the database's clock. */
export async function todayIn(
  client: Pick<pg.ClientBase | pg.Pool, 'query'>,
  timeZone: string,
): Promise<string> {
  const { rows } = await client.query<{ today: string }>(
    'SELECT (clock_timestamp() AT TIME ZONE $1)::date::text AS today',
    [timeZone],
  );
  return rows[0]?.today as string;
}

/**
 * The requested days of a file, as stated by a person. The file does not say: without them, missing days at its ends would
 * count as days without events. Only past days are complete.
 * @param today in the zone of the report
 * @throws ApiError missing_required_parameter or invalid_value, naming `from` or `to`
 */
export function requireDays(
  { from, to }: { from?: string | undefined; to?: string | undefined },
  today: string,
): ReportDays {
  for (const [param, given] of [
    ['from', from],
    ['to', to],
  ] as const) {
    if (given !== undefined) continue;
    const message = `${param} is required: the file does not say which days it was requested for. Give the first day as from and the day after the last as to.`;
    throw new ApiError('missing_required_parameter', message, { param });
  }
  const days = { from: from as string, to: to as string };
  if (days.from >= days.to)
    throw new ApiError('invalid_value', 'to must be after from, because it is the day after the last one.', {
      param: 'to',
    });
  if (days.to > today) {
    const message = `to must not be after ${today}: a file cannot be complete for a day that has not ended.`;
    throw new ApiError('invalid_value', message, { param: 'to' });
  }
  return days;
}

export interface CoverageList {
  provider: 'stripe' | 'sandbox' | 'bank';
  bankAccountId: string | null;
  /** Balance movements, payouts only, or bank lines. */
  of: 'activity' | 'payouts' | 'lines';
  /** Times without gaps, oldest first, in ISO 8601. `from` is null for the beginning of time. */
  covered: { from: string | null; to: string }[];
  /** Times between them that no report covers. Anything missing there goes unreported. */
  gaps: { from: string; to: string }[];
}

const ISO = (column: string): string =>
  `CASE WHEN isfinite(${column}) THEN to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') END`;

/** What is covered by provider and account, including accounts without any imported file. */
export async function listCoverage(client: pg.ClientBase): Promise<CoverageList[]> {
  const { rows } = await client.query<CoverageList>(
    `WITH reports AS (
       SELECT provider, NULL AS bank_account_id, of, covers FROM provider_reports
       CROSS JOIN LATERAL (SELECT unnest(CASE holds WHEN 'all' THEN ARRAY['activity', 'payouts'] ELSE ARRAY[holds] END) AS of) AS o
       WHERE provider <> 'bank' AND covers IS NOT NULL
       UNION ALL
       SELECT 'bank', a.id, 'lines', r.covers FROM bank_accounts a LEFT JOIN provider_reports r ON r.bank_account_id = a.id),
     joined AS (
       SELECT provider, bank_account_id, of, coalesce(range_agg(covers), '{}') AS covers FROM reports GROUP BY 1, 2, 3)
     SELECT provider, bank_account_id AS "bankAccountId", of,
       (SELECT coalesce(json_agg(json_build_object('from', ${ISO('lower(c)')}, 'to', ${ISO('upper(c)')}) ORDER BY c), '[]')
          FROM unnest(covers) AS c) AS covered,
       (SELECT coalesce(json_agg(json_build_object('from', ${ISO('lower(g)')}, 'to', ${ISO('upper(g)')}) ORDER BY g), '[]')
          FROM unnest(tstzmultirange(range_merge(covers)) - covers) AS g) AS gaps
     FROM joined ORDER BY provider DESC, bank_account_id, of`,
  );
  return rows;
}
