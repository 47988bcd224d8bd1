import type { Control } from '../control.js';
import { HELD, HELD_DETAILS } from '../reports/holds.js';
import { findItems } from './found-items.js';

const OVERDUE = `
SELECT 'charge:' || h.id AS subject, 'overdue' AS state, ${HELD_DETAILS} AS details, h.id AS charge_id,
  NULL::bigint[] AS transaction_ids
FROM (${HELD}) AS h
WHERE h.due_at < now() - $1::float8 * interval '1 millisecond' AND h.due_at < $2::timestamptz`;

export const holdsControl: Control = {
  id: 'holds',
  title: 'Outstanding holds',
  explanation:
    'Holds that are past their deadline by more than the grace period. Sweeps release such holds; if one remains, one of its messages could not be handled.',
  states: ['overdue'],
  check: (client, { graceMs, before, limit }) =>
    findItems(client, {
      sql: OVERDUE,
      values: [graceMs, before ?? 'infinity'],
      limit,
      messageOf: ({ details: { amount, model, held_since, task } }) =>
        `${amount} of ${model} ${task ? `for task ${task} ` : ''}have been held since ${held_since}.`,
    }),
};
