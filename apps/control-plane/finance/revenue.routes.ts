import { z } from 'zod';
import { priceChangeKinds, priceChangeView } from '#finance/reports/price-changes.js';
import { type RevenueDimension, revenueDimensions } from '#finance/reports/revenue.js';
import { revenueSubjects } from '#finance/reports/revenue-chart.js';
import { time } from '#platform/http/fields.js';
import { revenueView } from '#finance/views/revenue.view.js';
import { revenueChartView, workChartView } from '#finance/views/revenue-chart.view.js';
import { routesFor } from '../http/route.js';
import { dayRange } from '../http/report-range.js';

const known = new Set<string>(revenueDimensions);

const by = z
  .string()
  .max(100)
  .default('model')
  .transform((text) => text.split(',').filter((name) => name !== ''))
  .refine((names) => names.every((name) => known.has(name)) && new Set(names).size === names.length, {
    message: `must be some of ${revenueDimensions.join(', ')}, separated by commas, each once`,
  })
  .transform((names) => names as RevenueDimension[])
  .meta({
    description: `What rows are grouped by: some of ${revenueDimensions.join(', ')}, separated by commas; empty for one row of all.`,
    examples: ['day,model'],
  });

const versionsQuery = {
  from: time.optional().describe('Takes effect at or after this time.'),
  to: time.optional().describe('Takes effect before this time.'),
  kind: z.enum(priceChangeKinds).optional(),
  subject: z.string().max(100).optional().describe('A model or a group.'),
};

const revenueQuery = { ...dayRange, by };

const word = z.string().max(100).optional();
const chartQuery = z.strictObject({
  ...dayRange,
  by: z.enum(revenueSubjects).default('model'),
  model: word,
  family: word,
  group: word,
  channel: word,
});

const forFinance = routesFor(['finance'], 'Reports', 'reports');

export const revenueRoutes = {
  revenue: forFinance.get('reportRevenue', '/api/finance/reports/revenue', {
    summary: 'Get revenue, cost and margin, grouped by any dimension.',
    query: z.strictObject({
      ...revenueQuery,
      limit: z.coerce.number().int().min(1).max(5_000).default(1_000),
    }),
    answer: revenueView,
    csv: ['exportRevenue', 'Download all rows as CSV.'],
  }),
  chart: forFinance.get('chartRevenue', '/api/finance/reports/revenue/chart', {
    summary:
      'Get daily revenue, cost and margin by model, type, group or channel, compared with the previous period.',
    description: 'At most 366 days. Recognized revenue is available by type only.',
    query: chartQuery,
    answer: revenueChartView,
  }),
  work: routesFor(['admin'], 'Reports', 'reports').get('chartWork', '/api/admin/workload/chart', {
    load: 'query',
    summary: 'Get daily requests and credits of all accounts, compared with the previous period.',
    description: 'At most 366 days, by the end time of requests.',
    query: chartQuery,
    answer: workChartView,
  }),
  priceChanges: forFinance.get('reportPriceChanges', '/api/finance/reports/price-changes', {
    summary: 'List versions of prices, multipliers and group rules with their revenue, latest first.',
    query: z.strictObject({
      ...versionsQuery,
      limit: z.coerce.number().int().min(1).max(5_000).default(500),
    }),
    answer: z.object({ versions: z.array(priceChangeView) }),
    csv: ['exportPriceChanges', 'Download these versions as CSV.'],
  }),
};
