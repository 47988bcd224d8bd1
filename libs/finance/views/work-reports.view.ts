import { z } from 'zod';
import { allColumns, csvColumns } from '#platform/http/csv.js';
import { amountView, countView, numberText, openTimeView, shown, timeView } from '#platform/http/fields.js';
import type { PromotionReport } from '../reports/promotion.js';

const ms = countView.describe('Milliseconds.');

export const holdShape = z
  .object({
    chargeId: z.string(),
    accountId: z.string(),
    amount: amountView,
    heldSince: timeView,
    dueAt: timeView.describe('The latest time at which it should be resolved.'),
    isOverdue: z.boolean().describe('Whether that time plus the grace period has passed.'),
    model: z.string(),
    group: z.string(),
    /** That of other work is known once it is resolved. */
    channel: z.string().nullable().describe('The channel of a task, once chosen.'),
    taskId: z.string().nullable(),
    taskState: z.string().nullable(),
    upstreamTaskId: z.string().nullable(),
    requestId: z.string().nullable(),
    /** The posting of the hold. None if the price is 0. */
    transactionId: numberText.nullable(),
    ageMs: ms,
    family: z.string(),
  })
  .meta({ id: 'OpenHold' });

export const failureShape = z
  .object({
    chargeId: z.string(),
    accountId: z.string(),
    taskId: z.string().nullable(),
    failedAt: timeView,
    refundedAt: timeView.nullable().describe('Null if not yet refunded.'),
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
      underMs: ms.nullable().describe('Held for less than this. Null for longer.'),
      count: countView,
      amount: amountView,
    }),
  ),
  overdue: z.object({ count: countView, amount: amountView }),
  total: amountView,
  balances: amountView.describe('The held balances of all accounts, which equal the total.'),
};

export const refundDayShape = z
  .object({
    day: z.string().meta({ examples: ['2026-01-31'] }),
    failures: countView,
    refunded: countView,
    outstanding: countView,
    amount: amountView.describe('The amount held for failed work.'),
    outstandingAmount: amountView,
    p50Ms: ms.nullable(),
    p95Ms: ms.nullable(),
    maxMs: ms.nullable(),
  })
  .meta({ id: 'RefundDay' });

const movement = { given: amountView, clawedBack: amountView, moved: amountView, used: amountView };

export const promotionShape = z.object({
  from: openTimeView,
  to: openTimeView.describe(
    'The end of the report: as requested, or the time up to which the ledger is final.',
  ),
  opening: amountView,
  ...movement,
  closing: amountView,
  owed: amountView.describe('Rewards that should have been clawed back but had been spent.'),
  issued: amountView.describe('The amount that left `issued:promo`.'),
  ties: z.boolean(),
  days: z.array(z.object({ day: z.string(), ...movement })),
});

export function promotionView(report: PromotionReport) {
  return shown(promotionShape, { ...report, ties: report.issued === report.given - report.clawedBack });
}

export const holdColumns = allColumns(holdShape.omit({ ageMs: true, family: true }));
export const failureColumns = allColumns(failureShape);
export const refundDayColumns = allColumns(refundDayShape);

type PromotionView = ReturnType<typeof promotionView>;
type PromotionRow = { day: string; balance: string | null } & Partial<PromotionView['days'][number]>;

/** The days between the opening and closing invite balances. */
export function promotionRows({ opening, closing, days }: PromotionView): PromotionRow[] {
  return [
    { day: 'opening', balance: opening },
    ...days.map((day) => ({ ...day, balance: null })),
    { day: 'closing', balance: closing },
  ];
}

export const promotionColumns = csvColumns<PromotionRow>('day', 'given', 'clawedBack', 'moved', 'used', [
  'invite_balances',
  ({ balance }) => balance,
]);
