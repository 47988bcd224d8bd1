import { viewAmount } from '#platform/http/fields.js';
import type { CsvColumn } from '#platform/http/csv.js';
import type { DailySubject, DailyTotal, Slice, UsageEntry } from './usage.store.js';
import type { StatementEntry } from './statement.store.js';

/** A request as it is shown; which channel did the work is for staff. */
export function usageView(entry: UsageEntry, forStaff: boolean) {
  return {
    ...entry,
    at: entry.at.toISOString(),
    endedAt: entry.endedAt?.toISOString() ?? null,
    units: entry.units?.toString() ?? null,
    deliveredUnits: entry.deliveredUnits?.toString() ?? null,
    held: viewAmount(entry.held),
    settled: entry.settled === null ? null : viewAmount(entry.settled),
    released: entry.released === null ? null : viewAmount(entry.released),
    operatorLoss: viewAmount(entry.operatorLoss),
    channel: forStaff ? entry.channel : null,
  };
}

export function statementView({ ordinal: _, ...entry }: StatementEntry) {
  return {
    ...entry,
    transactionId: entry.transactionId.toString(),
    at: entry.at.toISOString(),
    effectiveAt: entry.effectiveAt.toISOString(),
    amount: viewAmount(entry.amount),
    balanceAfter: viewAmount(entry.balanceAfter),
  };
}

export function dailyView({ subject, ...total }: DailyTotal, by: DailySubject | null) {
  return {
    day: total.day,
    model: by === 'model' ? subject : null,
    keyId: by === 'key' ? subject : null,
    requests: Number(total.requests),
    settled: Number(total.settled),
    released: Number(total.released),
    refused: Number(total.refused),
    open: Number(total.open),
    amount: viewAmount(total.amount),
  };
}

type UsageView = ReturnType<typeof usageView>;
type StatementView = ReturnType<typeof statementView>;

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
  held: 'held_usd',
  settled: 'settled_usd',
  released: 'released_usd',
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
  amount: 'amount_usd',
  balanceAfter: 'balance_after_usd',
  chargeId: 'charge',
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
