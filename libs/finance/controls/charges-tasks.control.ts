import type { Control, ControlItem } from '../control.js';
import { FAULTY_WORK, workSql } from '../reports/charges-tasks.js';
import { crd, findItems, iso } from './found-items.js';

const MESSAGES: Record<string, (details: ControlItem['details']) => string> = {
  task_missing: ({ charge, task }) =>
    `Charge ${charge} is of task ${task}, which does not exist or has another charge.`,
  charge_missing: ({ task, task_state }) => `Task ${task} is ${task_state} and has no charge.`,
  late: ({ task, charge }) => `Task ${task} was completed, but its charge ${charge} was released.`,
  failed_without_release: ({ task, charge, charge_state }) =>
    `Task ${task} failed, and its charge ${charge} is still ${charge_state}.`,
  failed_and_settled: ({ task, charge, settled }) =>
    `Task ${task} failed, and its charge ${charge} was settled with ${settled}.`,
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

export const chargesTasksControl: Control = {
  id: 'charges-tasks',
  title: 'Charges against tasks and requests',
  explanation:
    'Compares every charge with its task or request, in both directions: charges without work, work without a charge, failures without a refund. Refund wrong charges. Answers are kept for a day; findings stay until someone acknowledges them with a note.',
  states: FAULTY_WORK,
  window: true,
  check: (client, { graceMs, before, since = null, limit }) => {
    const range = since === null ? [] : [since, 'infinity'];
    const [faulty, end] = [range.length + 2, range.length + 3];
    return findItems(client, {
      sql: `WITH ${workSql(since === null ? 'whole' : 'range')}
        SELECT subject, state, at, ${DETAILS} AS details, charge_id, NULL::bigint[] AS transaction_ids
        FROM work WHERE state = ANY($${faulty}::text[]) AND at < $${end}::timestamptz`,
      values: [graceMs, ...range, FAULTY_WORK, before ?? 'infinity'],
      limit,
      messageOf: ({ state, details }) => MESSAGES[state]?.(details) ?? state,
    });
  },
};

const DETAILS = `jsonb_build_object('charge', charge_id, 'charge_state', charge_state, 'account', account_id, 'model', model_id,
  'request', request_id, 'amount', ${crd('amount')}, 'settled', ${crd('settled')}, 'charged_at', ${iso('charged_at')},
  'task', task_id, 'task_state', task_state, 'task_ended_at', ${iso('task_ended_at')}, 'channel', channel_id,
  'upstream_status', upstream_status::text, 'answered', answered::text, 'key', key_id)`;
