import type { Control, ControlItem } from '../control.js';
import { crd, findItems, iso } from './found-items.js';

/** What customers got back of a charge after its settlement. */
const REFUNDED = `coalesce((SELECT sum(r.amount) FROM charge_refunds r WHERE r.charge_id = c.id), 0)`;

const CHARGE_DETAILS = `'charge', c.id, 'charge_state', c.state, 'account', c.account_id, 'model', c.model_id,
  'request', c.request_id, 'amount', ${crd('c.amount')}, 'settled', ${crd('c.settled')}, 'charged_at', ${iso('c.created_at')}`;

/**
 * $1: work that ended before has come to rest; $2: only what happened before. Every charge that names a task with its task,
 * and every task with its charge, by both of their names for each other.
 */
const TASKS = `
SELECT coalesce('task:' || t.id, 'charge:' || c.id) AS subject, judged.state,
  jsonb_build_object(${CHARGE_DETAILS}, 'task', coalesce(t.id, c.task_id), 'task_state', t.state,
    'task_ended_at', ${iso('t.ended_at')}, 'channel', coalesce(t.channel_id, c.channel_id)) AS details,
  c.id AS charge_id
FROM (SELECT * FROM charges WHERE task_id IS NOT NULL) AS c
FULL JOIN tasks t ON t.charge_id = c.id AND t.id = c.task_id
CROSS JOIN LATERAL (SELECT CASE
    WHEN t.id IS NULL THEN 'task_missing'
    WHEN c.id IS NULL THEN CASE
      WHEN t.state = 'completed' THEN 'work_without_charge'
      WHEN t.state IN ('failed', 'refused') THEN 'charge_missing' END
    WHEN t.state = 'completed' THEN CASE c.state
      WHEN 'held' THEN 'work_without_charge' WHEN 'settled' THEN NULL ELSE 'late' END
    WHEN t.state = 'failed' THEN CASE
      WHEN c.state = 'held' OR (c.state = 'settled' AND c.settled > ${REFUNDED}) THEN 'failed_without_release' END
    WHEN c.state = 'settled' AND c.settled > ${REFUNDED} THEN 'charged_without_work'
    WHEN c.state = 'held' AND t.state = 'refused' THEN 'charged_without_work'
  END AS state, coalesce(t.ended_at, c.resolved_at, c.created_at) AS at) AS judged
WHERE judged.state IS NOT NULL AND judged.at < $1 AND judged.at < $2`;

/** Work whose client waits for it: that it was done shows in who did it, and how that was answered. */
const SYNCHRONOUS = `
SELECT 'charge:' || c.id, 'charged_without_work',
  jsonb_build_object(${CHARGE_DETAILS}, 'channel', c.channel_id, 'upstream_status', c.upstream_status::text), c.id
FROM charges c
WHERE c.task_id IS NULL AND c.state = 'settled' AND c.settled > 0
  AND (c.channel_id IS NULL OR c.upstream_status NOT BETWEEN 200 AND 299)
  AND c.resolved_at < $1 AND c.resolved_at < $2 AND c.settled > ${REFUNDED}`;

/**
 * What clients that named their request were answered, as long as that is kept. Answers that were begun before their work
 * failed are left out, and so is work that is paid by the token, of which a part was delivered before it failed.
 */
const REQUESTS = `
SELECT 'charge:' || k.charge_id, CASE WHEN k.status < 300 THEN 'work_without_charge' ELSE 'charged_without_work' END,
  jsonb_build_object(${CHARGE_DETAILS}, 'charge', k.charge_id, 'answered', k.status::text, 'key', k.key_id), k.charge_id
FROM idempotency_keys k LEFT JOIN charges c ON c.id = k.charge_id
WHERE k.state = 'answered' AND k.created_at < $1 AND k.created_at < $2 AND c.task_id IS NULL AND c.lines IS NULL
  AND coalesce(k.content_type, '') NOT LIKE 'text/event-stream%'
  AND NOT EXISTS (SELECT FROM tasks t WHERE t.charge_id = k.charge_id)
  AND CASE WHEN k.status < 300 THEN c.state IS NULL OR c.state IN ('refused', 'released')
    ELSE c.state = 'settled' AND c.settled > ${REFUNDED} END`;

const MESSAGES: Record<string, (details: ControlItem['details']) => string> = {
  task_missing: ({ charge, task }) =>
    `Charge ${charge} is of task ${task}, which does not exist or has another charge.`,
  charge_missing: ({ task, task_state }) => `Task ${task} is ${task_state} and has no charge.`,
  late: ({ task, charge }) => `Task ${task} was completed, but its charge ${charge} was given back.`,
  failed_without_release: ({ task, charge, charge_state }) =>
    `Task ${task} failed, and its charge ${charge} is still ${charge_state}.`,
  charged_without_work: ({ charge, task, answered, channel }) => {
    if (task) return `Charge ${charge} was taken, but its task ${task} did not complete.`;
    if (answered) return `Charge ${charge} was settled, but its client was answered ${answered}.`;
    return `Charge ${charge} was settled, but ${channel ? 'its upstream refused the work' : 'nobody did the work'}.`;
  },
  work_without_charge: ({ charge, task, answered, charge_state }) => {
    if (task) return `Task ${task} was completed, and its charge is ${charge_state ?? 'missing'}.`;
    return `The request of charge ${charge} was answered ${answered}, and the charge is ${charge_state ?? 'missing'}.`;
  },
};

/** Charges against the work they are for. */
export const chargesTasksControl: Control = {
  id: 'charges-tasks',
  title: 'Charges against tasks and requests',
  explanation:
    'Every charge against its task or request, and every task and answered request against its charge: charged without work, work without charge, failed without release. Give back what was charged wrongly by a refund of the charge.',
  check: (client, { graceMs, before, limit }) =>
    findItems(client, {
      sql: `SELECT subject, state, details, charge_id, NULL::bigint[] AS transaction_ids FROM (
        ${forRest(TASKS)} UNION ALL ${forRest(SYNCHRONOUS)} UNION ALL ${forRest(REQUESTS)}) AS wrong`,
      values: [graceMs, before ?? 'infinity'],
      limit,
      messageOf: ({ state, details }) => MESSAGES[state]?.(details) ?? state,
    }),
};

/** The conditions with their times in place: at rest is what is older than $1 milliseconds. */
function forRest(sql: string): string {
  return sql
    .replaceAll('$1', `now() - $1::float8 * interval '1 millisecond'`)
    .replaceAll('$2', '$2::timestamptz');
}
