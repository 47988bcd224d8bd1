import type pg from 'pg';
import { NOT_SUMMED_UP } from './usage-summary.js';

/** How far back usage by day and model is known: today and the days before it. */
export const USAGE_DAYS = 61;

/** The ended requests of a UTC day and model. Amounts are in nanos. */
export interface UsageOfDay {
  /** Such as 2026-01-31. */
  day: string;
  model: string;
  requests: number;
  /** Of these, the ones that were fully refunded. */
  failures: number;
  settled: bigint;
}

/** One account: all its keys, or one. Both days are included. */
export interface UsageDaysQuery {
  accountId: string;
  keyId: string | null;
  from: string;
  to: string;
}

const DAYS = {
  name: 'usage-days',
  text: `WITH ended AS (
      SELECT day, key_id, model_id, requests, failures, settled FROM usage_days
      WHERE account_id = $1 AND day BETWEEN $3::date AND $4::date
      UNION ALL
      SELECT (created_at AT TIME ZONE 'UTC')::date, key_id, coalesce(model_id, ''), 1, (state = 'released')::int,
        coalesce(settled, 0)
      FROM ${NOT_SUMMED_UP} AND (created_at AT TIME ZONE 'UTC')::date BETWEEN $3::date AND $4::date)
    SELECT day::text, model_id AS model, sum(requests)::int AS requests, sum(failures)::int AS failures,
      sum(settled)::bigint AS settled
    FROM ended WHERE $2::text IS NULL OR key_id = $2 GROUP BY day, model_id ORDER BY ended.day DESC, model_id`,
};

/** Newest day first, then by model. Its cost does not depend on the account's history: it reads sums, not charges. */
export async function readUsageDays(pool: pg.Pool, query: UsageDaysQuery): Promise<UsageOfDay[]> {
  const { accountId, keyId, from, to } = query;
  return (await pool.query<UsageOfDay>({ ...DAYS, values: [accountId, keyId, from, to] })).rows;
}
