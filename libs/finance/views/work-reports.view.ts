import { z } from 'zod';
import type { CsvColumn } from '#platform/http/csv.js';
import { amountView, countView, numberText, openTimeView, shown, timeView } from '#platform/http/fields.js';
import type { PromotionReport } from '../reports/promotion.js';

const ms = countView.meta({ description: 'Milliseconds.' });

export const holdShape = z
  .object({
    chargeId: z.string(),
    accountId: z.string(),
    amount: amountView,
    heldSince: timeView,
    dueAt: timeView.meta({ description: 'When it should be resolved at the latest.' }),
    ageMs: ms,
    isOverdue: z.boolean().meta({ description: 'Beyond that and the grace.' }),
    family: z.string(),
    model: z.string(),
    group: z.string(),
    channel: z.string().nullable().meta({ description: 'Of a task, once one was chosen.' }),
    upstreamTaskId: z.string().nullable(),
    taskId: z.string().nullable(),
    taskState: z.string().nullable(),
    requestId: z.string().nullable(),
    transactionId: numberText.nullable(),
  })
  .meta({ id: 'OpenHold' });

export const failureShape = z
  .object({
    chargeId: z.string(),
    accountId: z.string(),
    taskId: z.string().nullable(),
    failedAt: timeView,
    refundedAt: timeView.nullable().meta({ description: 'Null: not yet.' }),
    latencyMs: ms.nullable(),
    amount: amountView,
    chargeState: z.string(),
    model: z.string(),
    channel: z.string().nullable(),
    reason: z.string().nullable(),
    transactionIds: z.array(numberText),
  })
  .meta({ id: 'FailedWork' });

export const holdTotals = {
  buckets: z.array(
    z.object({
      underMs: ms.nullable().meta({ description: 'Held for less than this; null: for longer.' }),
      count: countView,
      amount: amountView,
    }),
  ),
  overdue: z.object({ count: countView, amount: amountView }),
  total: amountView,
  balances: amountView.meta({ description: 'The held balances of all accounts: the same as the total.' }),
};

export const refundDayShape = z
  .object({
    day: z.string().meta({ examples: ['2026-01-31'] }),
    failures: countView,
    refunded: countView,
    outstanding: countView,
    amount: amountView.meta({ description: 'That was held for what failed.' }),
    outstandingAmount: amountView,
    p50Ms: ms.nullable(),
    p95Ms: ms.nullable(),
    maxMs: ms.nullable(),
  })
  .meta({ id: 'RefundDay' });

const movement = { given: amountView, clawedBack: amountView, moved: amountView, used: amountView };

export const promotionShape = z.object({
  from: openTimeView,
  to: openTimeView.meta({ description: 'Where the ledger is certain, or what was asked for.' }),
  opening: amountView,
  ...movement,
  closing: amountView,
  owed: amountView.meta({ description: 'Should have been clawed back and was spent before.' }),
  issued: amountView.meta({ description: 'What left issued:promo.' }),
  ties: z.boolean(),
  days: z.array(z.object({ day: z.string(), ...movement })),
});

export function promotionView(report: PromotionReport) {
  return shown(promotionShape, { ...report, ties: report.issued === report.given - report.clawedBack });
}

export const holdColumns: readonly CsvColumn<z.output<typeof holdShape>>[] = [
  { title: 'charge', value: ({ chargeId }) => chargeId },
  { title: 'account', value: ({ accountId }) => accountId },
  { title: 'amount', value: ({ amount }) => amount },
  { title: 'held_since', value: ({ heldSince }) => heldSince },
  { title: 'due_at', value: ({ dueAt }) => dueAt },
  { title: 'overdue', value: ({ isOverdue }) => String(isOverdue) },
  { title: 'model', value: ({ model }) => model },
  { title: 'group', value: ({ group }) => group },
  { title: 'channel', value: ({ channel }) => channel },
  { title: 'task', value: ({ taskId }) => taskId },
  { title: 'task_state', value: ({ taskState }) => taskState },
  { title: 'upstream_task', value: ({ upstreamTaskId }) => upstreamTaskId },
  { title: 'request', value: ({ requestId }) => requestId },
  { title: 'transaction', value: ({ transactionId }) => transactionId },
];

export const failureColumns: readonly CsvColumn<z.output<typeof failureShape>>[] = [
  { title: 'charge', value: ({ chargeId }) => chargeId },
  { title: 'account', value: ({ accountId }) => accountId },
  { title: 'task', value: ({ taskId }) => taskId },
  { title: 'failed_at', value: ({ failedAt }) => failedAt },
  { title: 'refunded_at', value: ({ refundedAt }) => refundedAt },
  { title: 'latency_ms', value: ({ latencyMs }) => latencyMs },
  { title: 'amount', value: ({ amount }) => amount },
  { title: 'charge_state', value: ({ chargeState }) => chargeState },
  { title: 'model', value: ({ model }) => model },
  { title: 'channel', value: ({ channel }) => channel },
  { title: 'reason', value: ({ reason }) => reason },
  { title: 'transactions', value: ({ transactionIds }) => transactionIds.join(' ') },
];

export const refundDayColumns: readonly CsvColumn<z.output<typeof refundDayShape>>[] = [
  { title: 'day', value: ({ day }) => day },
  { title: 'failures', value: ({ failures }) => failures },
  { title: 'refunded', value: ({ refunded }) => refunded },
  { title: 'outstanding', value: ({ outstanding }) => outstanding },
  { title: 'amount', value: ({ amount }) => amount },
  { title: 'outstanding_amount', value: ({ outstandingAmount }) => outstandingAmount },
  { title: 'p50_ms', value: ({ p50Ms }) => p50Ms },
  { title: 'p95_ms', value: ({ p95Ms }) => p95Ms },
  { title: 'max_ms', value: ({ maxMs }) => maxMs },
];

type PromotionView = ReturnType<typeof promotionView>;
type PromotionRow = { day: string; balance: string | null } & Partial<PromotionView['days'][number]>;

/** The days between the invite balances before and after. */
export function promotionRows({ opening, closing, days }: PromotionView): PromotionRow[] {
  return [
    { day: 'opening', balance: opening },
    ...days.map((day) => ({ ...day, balance: null })),
    { day: 'closing', balance: closing },
  ];
}

export const promotionColumns: readonly CsvColumn<PromotionRow>[] = [
  { title: 'day', value: ({ day }) => day },
  { title: 'given', value: ({ given = null }) => given },
  { title: 'clawed_back', value: ({ clawedBack = null }) => clawedBack },
  { title: 'moved', value: ({ moved = null }) => moved },
  { title: 'used', value: ({ used = null }) => used },
  { title: 'invite_balances', value: ({ balance }) => balance },
];
