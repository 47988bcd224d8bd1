import { z } from 'zod';
import type { CsvColumn } from '#platform/http/csv.js';
import { viewAmount, amountView, timeView } from '#platform/http/fields.js';
import type { OpenHold, HoldTotals } from '../reports/holds.js';
import type { PromotionMovement, PromotionReport } from '../reports/promotion.js';
import type { FailedCharge, RefundDay } from '../reports/refunds.js';
import { timeOf } from './ledger.view.js';

export const ms = z.number().int().meta({ description: 'Milliseconds.' });

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
    transactionId: z.string().nullable(),
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
    transactionIds: z.array(z.string()),
  })
  .meta({ id: 'FailedWork' });
export type HoldView = z.output<typeof holdShape>;
export type FailureView = z.output<typeof failureShape>;

export function holdView({ amount, heldSince, dueAt, ageMs, transactionId, ...hold }: OpenHold): HoldView {
  return {
    ...hold,
    amount: viewAmount(amount),
    heldSince: timeOf(heldSince) as string,
    dueAt: timeOf(dueAt) as string,
    ageMs: Number(ageMs),
    transactionId: transactionId?.toString() ?? null,
  };
}

export function holdTotalsView({ buckets, overdue, total, balances }: HoldTotals) {
  return {
    buckets: buckets.map(({ underMs, count, amount }) => {
      return { underMs, count: Number(count), amount: viewAmount(amount) };
    }),
    overdue: { count: Number(overdue.count), amount: viewAmount(overdue.amount) },
    total: viewAmount(total),
    balances: viewAmount(balances),
  };
}

export function refundDayView({ day, amount, outstandingAmount, ...row }: RefundDay) {
  const { failures, refunded, outstanding, p50Ms, p95Ms, maxMs } = row;
  const number = (value: bigint | null) => (value === null ? null : Number(value));
  return {
    day,
    failures: Number(failures),
    refunded: Number(refunded),
    outstanding: Number(outstanding),
    amount: viewAmount(amount),
    outstandingAmount: viewAmount(outstandingAmount),
    p50Ms: number(p50Ms),
    p95Ms: number(p95Ms),
    maxMs: number(maxMs),
  };
}

export function failureView({
  failedAt,
  refundedAt,
  latencyMs,
  amount,
  transactionIds,
  ...failure
}: FailedCharge): FailureView {
  return {
    ...failure,
    failedAt: timeOf(failedAt) as string,
    refundedAt: refundedAt && timeOf(refundedAt),
    latencyMs: latencyMs === null ? null : Number(latencyMs),
    amount: viewAmount(amount),
    transactionIds: transactionIds.map(String),
  };
}

export function promotionView(report: PromotionReport) {
  const { from, to, opening, closing, owed, issued, days } = report;
  return {
    from: timeOf(from),
    to: timeOf(to),
    opening: viewAmount(opening),
    ...movementView(report),
    closing: viewAmount(closing),
    owed: viewAmount(owed),
    issued: viewAmount(issued),
    ties: issued === report.given - report.clawedBack,
    days: days.map(({ day, ...moved }) => ({ day, ...movementView(moved) })),
  };
}

function movementView({ given, clawedBack, moved, used }: PromotionMovement) {
  return {
    given: viewAmount(given),
    clawedBack: viewAmount(clawedBack),
    moved: viewAmount(moved),
    used: viewAmount(used),
  };
}

export const holdColumns: readonly CsvColumn<HoldView>[] = [
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

export const failureColumns: readonly CsvColumn<FailureView>[] = [
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

type RefundDayView = ReturnType<typeof refundDayView>;

export const refundDayColumns: readonly CsvColumn<RefundDayView>[] = [
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
