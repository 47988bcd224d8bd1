import { z } from 'zod';
import { csvColumns } from '#platform/http/csv.js';
import { numberText, timeView, wordView } from '#platform/http/fields.js';
import type { ControlOutcome } from '../control-run.js';
import { foundStates } from '../found-states.js';

export const findingShape = z
  .object({
    id: numberText,
    control: z.string(),
    subject: z.string().meta({ examples: ['charge:01k0000000000000000000000'] }),
    state: wordView(foundStates).meta({ examples: ['overdue', 'missing_here', 'differs'] }),
    message: z.string().meta({ description: 'The state and its details as an English sentence.' }),
    details: z.record(z.string(), z.string().nullable()).meta({
      description:
        'What the state is about: amounts as decimal strings with their unit, IDs, times. `also` has further states.',
    }),
    transactionIds: z.array(numberText).meta({ description: 'Related ledger transactions.' }),
    firstSeenAt: timeView,
    lastSeenAt: timeView,
    resolvedAt: timeView.nullable(),
    acknowledgedBy: z.string().nullable().meta({ description: '`user:{id}`.' }),
    acknowledgedAt: timeView.nullable(),
    note: z.string().nullable(),
  })
  .meta({ id: 'Finding' });

export function outcomeView({ control, result, durationMs, fault, error }: ControlOutcome) {
  const state = result ? (result.count === 0 ? ('green' as const) : ('red' as const)) : ('error' as const);
  return { id: control.id, state, count: result?.count ?? null, durationMs, fault, error };
}

export type FindingView = z.output<typeof findingShape>;

export const findingColumns = csvColumns<FindingView>(
  'id',
  'control',
  'subject',
  'state',
  'message',
  'firstSeenAt',
  'lastSeenAt',
  'resolvedAt',
  'acknowledgedBy',
  'note',
  'transactionIds',
  ['details', ({ details }) => JSON.stringify(details)],
);
