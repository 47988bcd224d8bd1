import type { Slice } from './newest-first.js';
import { z } from 'zod';
import { timeView, amountView, countView, shown } from '#platform/http/fields.js';
import type { CsvColumn } from '#platform/http/csv.js';
import type { statementEntry } from './statement.store.js';
import { type DailySubject, type DailyTotal, type UsageEntry, usageEntry } from './usage.store.js';

export const foundRequest = usageEntry.extend({ accountId: z.string() }).meta({ id: 'FoundRequest' });

const totals = {
  spent: amountView,
  requests: z.int(),
  failures: z.int().meta({ description: 'Requests that were refunded in full.' }),
  latencyMs: z.int().nullable().meta({ description: 'The average latency.' }),
};
const chartTotals = z.object(totals).meta({ id: 'UsageTotals' });
const subjectView = z
  .string()
  .nullable()
  .meta({ description: 'Empty for requests without one. Null for all those not listed by name.' });
const before = chartTotals
  .nullable()
  .meta({ description: 'Totals of the previous period. Null if not known.' });

export const usageChart = z
  .object({
    from: timeView,
    to: timeView.meta({ description: 'Exclusive.' }),
    stepSeconds: z.int(),
    total: chartTotals,
    before,
    subjects: z.array(z.object({ subject: subjectView, ...totals, before })),
    points: z.array(
      z.object({
        at: timeView.meta({ description: 'The start of the step.' }),
        before,
        subjects: z.array(z.object({ subject: subjectView, ...totals })),
      }),
    ),
  })
  .meta({ id: 'UsageChart' });

export const dailyTotal = z
  .object({
    day: z.string().meta({ description: 'UTC day, such as 2026-01-31.' }),
    model: z.string().nullable(),
    keyId: z.string().nullable(),
    requests: countView,
    settled: countView,
    released: countView,
    refused: countView,
    open: countView,
    amount: amountView.meta({ description: 'The settled amount.' }),
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
type StatementView = z.output<typeof statementEntry>;

const USAGE_TITLES: Partial<Record<keyof UsageView, string>> = {
  at: 'time',
  endedAt: 'ended',
  chargeId: 'charge',
  requestId: 'request',
  keyId: 'key',
  requestedModel: 'requested_model',
  model: 'model',
  family: 'family',
  group: 'group',
  state: 'state',
  units: 'units',
  deliveredUnits: 'delivered_units',
  held: 'held_credits',
  settled: 'settled_credits',
  released: 'released_credits',
  refusalCode: 'refusal',
  reason: 'reason',
  upstreamStatus: 'upstream_status',
  latencyMs: 'latency_ms',
  taskId: 'task',
};

const STATEMENT_TITLES: Partial<Record<keyof StatementView, string>> = {
  at: 'time',
  transactionId: 'transaction',
  kind: 'kind',
  reference: 'reference',
  balance: 'balance',
  amount: 'amount_credits',
  balanceAfter: 'balance_after_credits',
  chargeId: 'charge',
  state: 'state',
  model: 'model',
  keyId: 'key',
};

export function usageColumns(forStaff: boolean): CsvColumn<UsageView>[] {
  return columnsOf(forStaff ? { ...USAGE_TITLES, channel: 'channel' } : USAGE_TITLES);
}

export function statementColumns(): CsvColumn<StatementView>[] {
  return columnsOf(STATEMENT_TITLES);
}

function columnsOf<T extends Record<string, string | number | null>>(
  titles: Partial<Record<keyof T, string>>,
): CsvColumn<T>[] {
  return Object.entries(titles).map(([name, title]) => ({
    title: title as string,
    value: (row: T) => row[name] ?? null,
  }));
}

/** A whole list, read page by page as it is asked for. */
export async function* everyItem<T>(read: (after: string | null) => Promise<Slice<T>>): AsyncGenerator<T> {
  for (let after: string | null = null; ;) {
    const { items, next }: Slice<T> = await read(after);
    yield* items;
    if (next === null) return;
    after = next;
  }
}
