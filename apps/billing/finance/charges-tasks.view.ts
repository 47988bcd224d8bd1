import type { z } from 'zod';
import { FAULTY_WORK, type WorkDay, type WorkItem } from '#finance/reports/charges-tasks.js';
import type { CsvColumn } from '../http/csv.js';
import { viewAmount } from '../http/fields.js';
import type { workDayView as dayShape, workView as itemShape } from './charges-tasks.routes.js';
import { timeOf } from './ledger.view.js';

type ItemView = z.input<typeof itemShape>;

export function workView({ at, amount, settled, transactionIds, ...item }: WorkItem): ItemView {
  return {
    ...item,
    at: timeOf(at) as string,
    amount: amount === null ? null : viewAmount(amount),
    settled: settled === null ? null : viewAmount(settled),
    transactionIds: transactionIds.map(String),
  };
}

export function workDayView({ items, amount, settled, ...day }: WorkDay): z.input<typeof dayShape> {
  return { ...day, items: Number(items), amount: viewAmount(amount), settled: viewAmount(settled) };
}

/** How many of them should not be. */
export function faultsOf(days: readonly WorkDay[]): number {
  const faulty = days.filter(({ state }) => FAULTY_WORK.includes(state));
  return Number(faulty.reduce((sum, { items }) => sum + items, 0n));
}

export const workColumns: readonly CsvColumn<ItemView>[] = [
  { title: 'at', value: ({ at }) => at },
  { title: 'state', value: ({ state }) => state },
  { title: 'charge', value: ({ chargeId }) => chargeId },
  { title: 'charge_state', value: ({ chargeState }) => chargeState },
  { title: 'amount', value: ({ amount }) => amount },
  { title: 'settled', value: ({ settled }) => settled },
  { title: 'task', value: ({ taskId }) => taskId },
  { title: 'task_state', value: ({ taskState }) => taskState },
  { title: 'answered', value: ({ answered }) => answered },
  { title: 'request', value: ({ requestId }) => requestId },
  { title: 'account', value: ({ accountId }) => accountId },
  { title: 'model', value: ({ model }) => model },
  { title: 'channel', value: ({ channel }) => channel },
  { title: 'transactions', value: ({ transactionIds }) => transactionIds.join(' ') },
];
