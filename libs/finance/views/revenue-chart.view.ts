import { z } from 'zod';
import { formatMinor } from '#money/currency.js';
import { amountView, countView, shown } from '#platform/http/fields.js';
import { moneyMargin } from '../reports/revenue.js';
import type { readRevenueChart, RevenueSums } from '../reports/revenue-chart.js';
import { utcDay } from './costs.view.js';

const work = {
  charges: countView.meta({ description: 'That were settled.' }),
  failedCharges: countView.meta({ description: 'That were released, since their work failed.' }),
  net: amountView.meta({ description: 'What was charged less what was refunded.' }),
  refunds: amountView,
};
const money = {
  cost: amountView.meta({ description: 'USD that upstreams take for delivered and for failed work.' }),
  recognised: z
    .string()
    .nullable()
    .meta({
      description: 'Revenue in the payment currency; null by anything but the type, which it is posted by.',
      examples: ['2.27'],
    }),
  margin: amountView.nullable().meta({
    description: 'USD: recognised - cost. Null without it, and where payments are not in USD, as costs are.',
  }),
};
const subject = z.string().nullable().meta({
  description: 'Empty: work that has none. Null: all that are not listed by name.',
});

const [workSums, moneySums] = [
  z.object(work).meta({ id: 'WorkSums' }),
  z.object({ ...work, ...money }).meta({ id: 'RevenueSums' }),
];
const days = { from: utcDay, to: utcDay };

export const workChartView = z
  .object({
    ...days,
    total: workSums,
    before: workSums.meta({ description: 'Of as many days before.' }),
    subjects: z.array(z.object({ subject, ...work, before: workSums })),
    points: z.array(
      z.object({ day: utcDay, before: workSums, subjects: z.array(z.object({ subject, ...work })) }),
    ),
  })
  .meta({ id: 'WorkChart' });

export const revenueChartView = z
  .object({
    ...days,
    currency: z.string().meta({ description: 'Of payments.', examples: ['USD'] }),
    total: moneySums,
    before: moneySums.meta({ description: 'Of as many days before.' }),
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

/** With the money of each sum in the currency of payments. */
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
