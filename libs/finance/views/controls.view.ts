import type { z } from 'zod';
import { csvColumns } from '#platform/http/csv.js';
import type { ControlOutcome } from '../control-run.js';
import type { findingShape } from '../findings.js';

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
