import type { z } from 'zod';
import type { ControlOutcome } from '#finance/control-run.js';
import type { Finding } from '#finance/findings.js';
import type { CsvColumn } from '../http/csv.js';
import type { findingView as shape } from './controls.routes.js';

export function outcomeView({ control, result, durationMs, error }: ControlOutcome) {
  const state = result ? (result.count === 0 ? ('green' as const) : ('red' as const)) : ('error' as const);
  return { id: control.id, state, count: result?.count ?? null, durationMs, error };
}

export type FindingView = z.input<typeof shape>;

export function findingView(finding: Finding): FindingView {
  const { id, transactionIds, firstSeenAt, lastSeenAt, resolvedAt, acknowledgedAt } = finding;
  return {
    ...finding,
    id: id.toString(),
    transactionIds: transactionIds.map(String),
    firstSeenAt: firstSeenAt.toISOString(),
    lastSeenAt: lastSeenAt.toISOString(),
    resolvedAt: resolvedAt?.toISOString() ?? null,
    acknowledgedAt: acknowledgedAt?.toISOString() ?? null,
  };
}

export const findingColumns: readonly CsvColumn<FindingView>[] = [
  { title: 'id', value: ({ id }) => id },
  { title: 'control', value: ({ control }) => control },
  { title: 'subject', value: ({ subject }) => subject },
  { title: 'state', value: ({ state }) => state },
  { title: 'message', value: ({ message }) => message },
  { title: 'first_seen_at', value: ({ firstSeenAt }) => firstSeenAt },
  { title: 'last_seen_at', value: ({ lastSeenAt }) => lastSeenAt },
  { title: 'resolved_at', value: ({ resolvedAt }) => resolvedAt },
  { title: 'acknowledged_by', value: ({ acknowledgedBy }) => acknowledgedBy },
  { title: 'note', value: ({ note }) => note },
  { title: 'transactions', value: ({ transactionIds }) => transactionIds.join(' ') },
  { title: 'details', value: ({ details }) => JSON.stringify(details) },
];
