import type pg from 'pg';
import type { RowOf } from '#platform/http/fields.js';
import type { failureShape, refundDayShape } from '../views/work-reports.view.js';

/**
 * Work that failed after its price was held, and when it was refunded. A task failed when it ended. For work that a client
 * waits for, the time of the answer counts or, without one, its deadline. $1 and $2: the time of the failure.
 */
const FAILURES = `
SELECT c.id AS charge_id, c.account_id, t.id AS task_id, t.ended_at AS failed_at, c.amount, c.model_id, c.state,
  coalesce(t.channel_id, c.channel_id) AS channel_id, coalesce(t.error_code, c.resolution_reason) AS reason,
  CASE c.state WHEN 'released' THEN greatest(c.resolved_at, t.ended_at)
    WHEN 'settled' THEN (SELECT max(r.recorded_at) FROM charge_refunds r WHERE r.charge_id = c.id
      HAVING sum(r.amount) >= c.settled) END AS refunded_at
FROM tasks t JOIN charges c ON c.id = t.charge_id
WHERE t.state = 'failed' AND c.state <> 'refused' AND t.ended_at >= $1 AND t.ended_at < $2
UNION ALL
SELECT c.id, c.account_id, NULL, failed.at, c.amount, c.model_id, c.state, c.channel_id, c.resolution_reason, c.resolved_at
FROM charges c CROSS JOIN LATERAL (SELECT least(c.resolved_at,
    coalesce(c.created_at + c.latency_ms * interval '1 millisecond', c.deadline, c.resolved_at)) AS at) AS failed
WHERE c.task_id IS NULL AND c.state = 'released' AND c.resolved_at >= $1 AND failed.at >= $1 AND failed.at < $2`;

/** Failures of one UTC day. Latencies are milliseconds from the failure to the posting of the refund. */
export type RefundDay = RowOf<typeof refundDayShape>;

export type FailedCharge = RowOf<typeof failureShape>;

/** Failed from (inclusive) to (exclusive). */
export interface RefundsRange {
  from: Date;
  to: Date;
}

/** Compares refunds with failures, by the day of the failure, newest first. */
export async function readRefundDays(
  client: pg.ClientBase,
  { from, to }: RefundsRange,
): Promise<RefundDay[]> {
  const { rows } = await client.query<RefundDay>(
    `SELECT to_char(failed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, count(*) AS failures,
       count(refunded_at) AS refunded, count(*) - count(refunded_at) AS outstanding, sum(amount)::bigint AS amount,
       coalesce(sum(amount) FILTER (WHERE refunded_at IS NULL), 0)::bigint AS "outstandingAmount",
       percentile_disc(0.5) WITHIN GROUP (ORDER BY ms) AS "p50Ms",
       percentile_disc(0.95) WITHIN GROUP (ORDER BY ms) AS "p95Ms", max(ms) AS "maxMs"
     FROM (${FAILURES}) AS f
     CROSS JOIN LATERAL (SELECT (extract(epoch FROM refunded_at - failed_at) * 1000)::bigint AS ms) AS latency
     GROUP BY 1 ORDER BY 1 DESC`,
    [from, to],
  );
  return rows;
}

export interface FailuresQuery extends RefundsRange {
  limit: number;
  /** The last failure of the previous page. */
  after: { failedAt: string; chargeId: string } | null;
  outstandingOnly: boolean;
}

/** A page of failures, newest first. Times are text in the client's time zone. */
export async function readFailures(client: pg.ClientBase, query: FailuresQuery): Promise<FailedCharge[]> {
  const { from, to, limit, after, outstandingOnly } = query;
  const { rows } = await client.query<FailedCharge>(
    `SELECT f.charge_id AS "chargeId", f.account_id AS "accountId", f.task_id AS "taskId", f.failed_at::text AS "failedAt",
       f.refunded_at::text AS "refundedAt", (extract(epoch FROM f.refunded_at - f.failed_at) * 1000)::bigint AS "latencyMs",
       f.amount, f.state AS "chargeState", f.model_id AS model, f.channel_id AS channel, f.reason,
       ARRAY(SELECT t.id FROM ledger_transactions t WHERE t.reference
         IN ('charge:' || f.charge_id || ':hold', 'charge:' || f.charge_id || ':resolve') ORDER BY t.id) AS "transactionIds"
     FROM (${FAILURES}) AS f
     WHERE ($3::timestamptz IS NULL OR (f.failed_at, f.charge_id) < ($3, $4::text))
       AND (NOT $5::boolean OR f.refunded_at IS NULL)
     ORDER BY f.failed_at DESC, f.charge_id DESC LIMIT $6`,
    [from, to, after?.failedAt ?? null, after?.chargeId ?? '', outstandingOnly, limit],
  );
  return rows;
}
