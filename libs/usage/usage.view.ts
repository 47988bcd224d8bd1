import type { Slice } from './newest-first.js';
import { z } from 'zod';
import { timeView, amountView, countView, shown } from '#platform/http/fields.js';
import { type CsvColumn, csvColumns } from '#platform/http/csv.js';
import type { statementEntry } from './statement.store.js';
import { type DailySubject, type DailyTotal, type UsageEntry, usageEntry } from './usage.store.js';

export const foundRequest = usageEntry.extend({ accountId: z.string() }).meta({ id: 'FoundRequest' });

const totals = {
  spent: amountView,
  requests: z.int(),
  failures: z.int().describe('Requests that were refunded in full.'),
  latencyMs: z.int().nullable().describe('The average latency.'),
};
const chartTotals = z.object(totals).meta({ id: 'UsageTotals' });
const subjectView = z
  .string()
  .nullable()
  .describe('Empty for requests without one. Null for all those not listed by name.');
const before = chartTotals.nullable().describe('Totals of the previous period. Null if not known.');

export const usageChart = z
  .object({
    from: timeView,
    to: timeView.describe('Exclusive.'),
    stepSeconds: z.int(),
    total: chartTotals,
    before,
    subjects: z.array(z.object({ subject: subjectView, ...totals, before })),
    points: z.array(
      z.object({
        at: timeView.describe('The start of the step.'),
        before,
        subjects: z.array(z.object({ subject: subjectView, ...totals })),
      }),
    ),
  })
  .meta({ id: 'UsageChart' });

export const dailyTotal = z
  .object({
    day: z.string().describe('UTC day, such as 2026-01-31.'),
    model: z.string().nullable(),
    keyId: z.string().nullable(),
    requests: countView,
    settled: countView,
    released: countView,
    refused: countView,
    open: countView,
    amount: amountView.describe('The settled amount.'),
  })
  .meta({ id: 'DailyTotal' });

/** A request as it is shown; which channel did the work is for staff. */
export function usageView(entry: UsageEntry, forStaff: boolean): UsageView {
  return shown(usageEntry, { ...entry, channel: forStaff ? entry.channel : null });
}

export function dailyView({ subject, ...total }: DailyTotal, by: DailySubject | null) {
  return { ...total, model: by === 'model' ? subject : null, keyId: by === 'key' ? subject : null };
}

type UsageView = z.output<typeof usageEntry>;

const FILE_COLUMNS = csvColumns<UsageView>(
  ['time', ({ at }) => at],
  ['ended', ({ endedAt }) => endedAt],
  'chargeId',
  'requestId',
  'keyId',
  'requestedModel',
  'model',
  'family',
  'group',
  'state',
  'units',
  'deliveredUnits',
  ['held_credits', ({ held }) => held],
  ['settled_credits', ({ settled }) => settled],
  ['released_credits', ({ released }) => released],
  ['refusal', ({ refusalCode }) => refusalCode],
  'reason',
  'upstreamStatus',
  'latencyMs',
  'taskId',
);

export function usageColumns(forStaff: boolean): CsvColumn<UsageView>[] {
  return forStaff ? [...FILE_COLUMNS, ...csvColumns<UsageView>('channel')] : FILE_COLUMNS;
}

export const statementColumns = csvColumns<z.output<typeof statementEntry>>(
  ['time', ({ at }) => at],
  'transactionId',
  'kind',
  'reference',
  'balance',
  ['amount_credits', ({ amount }) => amount],
  ['balance_after_credits', ({ balanceAfter }) => balanceAfter],
  'chargeId',
  'state',
  'model',
  'keyId',
);

/** A whole list, read page by page as it is asked for. */
export async function* everyItem<T>(read: (after: string | null) => Promise<Slice<T>>): AsyncGenerator<T> {
  for (let after: string | null = null; ;) {
    const { items, next }: Slice<T> = await read(after);
    yield* items;
    if (next === null) return;
    after = next;
  }
}
