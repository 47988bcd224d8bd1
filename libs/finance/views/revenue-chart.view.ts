import { z } from 'zod';
import { formatMinor } from '#money/currency.js';
import { amountView, countView, shown, utcDay } from '#platform/http/fields.js';
import { moneyMargin } from '../reports/revenue.js';
import type { readRevenueChart, RevenueSums } from '../reports/revenue-chart.js';

const work = {
  charges: countView.describe('Charges that were settled.'),
  failedCharges: countView.describe('Charges that were refunded because their work failed.'),
  net: amountView.describe('Charged minus refunded.'),
  refunds: amountView,
};
const money = {
  cost: amountView.describe('Upstream costs of delivered and failed work, in USD.'),
  recognised: z
    .string()
    .nullable()
    .meta({
      description:
        'Revenue in the payment currency. Null unless grouped by type, because it is posted by type.',
      examples: ['2.27'],
    }),
  margin: amountView
    .nullable()
    .describe('`recognised` − `cost`, in USD. Null without `recognised`, or if payments are not in USD.'),
};
const subject = z
  .string()
  .nullable()
  .describe('Empty for work without one. Null for all those not listed by name.');

const [workSums, moneySums] = [
  z.object(work).meta({ id: 'WorkSums' }),
  z.object({ ...work, ...money }).meta({ id: 'RevenueSums' }),
];
const days = { from: utcDay, to: utcDay };

export const workChartView = z
  .object({
    ...days,
    total: workSums,
    before: workSums.describe('Totals of the previous period of the same length.'),
    subjects: z.array(z.object({ subject, ...work, before: workSums })),
    points: z.array(
      z.object({ day: utcDay, before: workSums, subjects: z.array(z.object({ subject, ...work })) }),
    ),
  })
  .meta({ id: 'WorkChart' });

export const revenueChartView = z
  .object({
    ...days,
    currency: z.string().meta({ description: 'The payment currency.', examples: ['USD'] }),
    total: moneySums,
    before: moneySums.describe('Totals of the previous period of the same length.'),
    subjects: z.array(z.object({ subject, ...work, ...money, before: moneySums })),
    points: z.array(
      z.object({
        day: utcDay,
        before: moneySums,
        subjects: z.array(z.object({ subject, ...work, ...money })),
      }),
    ),
  })
  .meta({ id: 'RevenueChart' });

type Chart = Awaited<ReturnType<typeof readRevenueChart>>;

/** Adds the money of each sum in the payment currency. */
export function viewRevenueChart(chart: Chart, asked: { from: string; to: string; currency: string }) {
  const sums = <S extends RevenueSums>(of: S) => ({ ...of, ...moneyOf(of, asked.currency) });
  return shown(revenueChartView, {
    ...asked,
    total: sums(chart.total),
    before: sums(chart.before),
    subjects: chart.subjects.map((each) => ({ ...sums(each), before: sums(each.before) })),
    points: chart.points.map((point) => ({
      ...point,
      before: sums(point.before),
      subjects: point.subjects.map(sums),
    })),
  });
}

function moneyOf({ recognisedMinor, cost }: RevenueSums, currency: string) {
  if (recognisedMinor === null) return { recognised: null, margin: null };
  return {
    recognised: formatMinor(recognisedMinor, currency),
    margin: moneyMargin({ recognisedMinor, cost }, currency)?.margin ?? null,
  };
}
