import type { Control } from '../control.js';
import { crd, findItems, iso } from './found-items.js';

/** Money held or kept although the task failed. A refund of the charge counts as a refund too. */
const OUTSTANDING = `
SELECT 'task:' || t.id AS subject, 'not_refunded' AS state,
  jsonb_build_object('task', t.id, 'charge', c.id, 'account', c.account_id, 'model', c.model_id, 'channel', t.channel_id,
    'amount', ${crd('c.amount')}, 'charge_state', c.state, 'failed_at', ${iso('t.ended_at')}, 'reason', t.error_code) AS details,
  c.id AS charge_id, NULL::bigint[] AS transaction_ids
FROM tasks t JOIN charges c ON c.id = t.charge_id
WHERE t.state = 'failed' AND c.state IN ('held', 'settled')
  AND t.ended_at < now() - $1::float8 * interval '1 millisecond' AND t.ended_at < $2::timestamptz
  AND (c.state = 'held' OR c.settled > coalesce((SELECT sum(r.amount) FROM charge_refunds r WHERE r.charge_id = c.id), 0))`;

/** Checks that every failure is refunded. How long refunds take is a report. */
export const refundLatencyControl: Control = {
  id: 'refund-latency',
  title: 'Refunds against failures',
  explanation:
    'Failed work that was not refunded within the grace period. Find the message that should have caused the refund, or refund the charge.',
  states: ['not_refunded'],
  check: (client, { graceMs, before, limit }) =>
    findItems(client, {
      sql: OUTSTANDING,
      values: [graceMs, before ?? 'infinity'],
      limit,
      messageOf: ({ details: { task, failed_at, amount } }) =>
        `Task ${task} failed at ${failed_at}, and ${amount} did not come back.`,
    }),
};
