import { z } from 'zod';
import { priceChangeKinds } from '#finance/reports/price-changes.js';
import { type RevenueDimension, revenueDimensions } from '#finance/reports/revenue.js';
import { amountView, time, timeView } from '../http/fields.js';
import { route } from '../http/route.js';
import { day } from './costs.routes.js';

const tag = 'Reports';
const FINANCE = ['finance'] as const;

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
    description: `What rows are told apart by: some of ${revenueDimensions.join(', ')}, separated by commas; empty for one row of all.`,
    examples: ['day,model'],
  });

const days = {
  from: day.optional().meta({ description: 'The first day of UTC; the first of this month when left out.' }),
  to: day.optional().meta({ description: 'The day after the last; tomorrow when left out.' }),
};

const count = z.string().meta({ description: 'A whole number.', examples: ['12'] });

const earned = {
  charges: count.meta({ description: 'That were settled.' }),
  failedCharges: count.meta({ description: 'That were given back, since their work failed.' }),
  units: count.meta({ description: 'Calls, seconds or tokens that were delivered.' }),
  gross: amountView.meta({ description: 'What charges settled, when they did.' }),
  refunds: amountView.meta({ description: 'What was given back of settled charges, when it was.' }),
  net: amountView.meta({ description: 'gross - refunds.' }),
  averagePrice: amountView.nullable().meta({ description: 'gross for each unit, cut to nine decimals.' }),
  cost: amountView.meta({ description: 'What upstreams take for delivered work.' }),
  failedCost: amountView.meta({ description: 'What they take for failed work all the same.' }),
  margin: amountView.meta({ description: 'net - cost - failedCost; below zero: a loss.' }),
  marginPercent: z
    .string()
    .nullable()
    .meta({ description: 'Of net, with two decimals, cut; null without revenue.' }),
};

const dimension = z.string().nullable().optional();

export const revenueView = z.object({
  from: day,
  to: day,
  by: z.array(z.enum(revenueDimensions)),
  completeTo: timeView.nullable().meta({ description: 'What happened before is in it for good.' }),
  costsTo: timeView.nullable().meta({ description: 'Costs of what ended before are in it.' }),
  rows: z
    .array(
      z.object({
        ...{ day: dimension, family: dimension, model: dimension },
        ...{ group: dimension, channel: dimension, account: dimension },
        ...earned,
      }),
    )
    .meta({ description: 'By day where asked, then by gross, the largest first.' }),
  truncated: z.boolean().meta({ description: 'There are more rows; the totals are of all.' }),
  totals: z.object(earned),
  billDifference: amountView.meta({
    description: 'What upstreams billed beyond the costs that were told; no row has it.',
  }),
  unknownCosts: count.meta({ description: 'Charges whose cost nobody set: margins are too high by them.' }),
  ledger: z
    .object({ gross: amountView, refunds: amountView, cost: amountView, failedCost: amountView })
    .meta({ description: 'What the accounts of the ledger moved in these days.' }),
  agrees: z.boolean().meta({ description: 'Whether the totals, with the bills, are what the ledger says.' }),
});

export const priceChangeView = z.object({
  kind: z.enum(priceChangeKinds),
  versionId: z.string(),
  subject: z.string().meta({ description: 'The model of a price, the group of a multiplier or rule.' }),
  value: z
    .string()
    .meta({ description: 'USD, or the factor; input/cached input/output of a million tokens.' }),
  before: z.string().nullable(),
  effectiveFrom: timeView.nullable().meta({ description: 'Null: since ever.' }),
  until: timeView.nullable(),
  recordedAt: timeView,
  proposal: z
    .object({
      id: z.string(),
      note: z.string(),
      proposedBy: z.string(),
      decidedBy: z.string().nullable(),
    })
    .nullable()
    .meta({ description: 'Null for a version that a catalog began with.' }),
  gross: amountView.meta({ description: 'What charges settled by it until now.' }),
  charges: count,
  units: count,
});

const versionsQuery = {
  from: time.optional().meta({ description: 'Taking effect at this time or later.' }),
  to: time.optional().meta({ description: 'Taking effect before.' }),
  kind: z.enum(priceChangeKinds).optional(),
  subject: z.string().max(100).optional().meta({ description: 'A model, or a group.' }),
};

const revenueQuery = { ...days, by };

export const revenueRoutes = {
  revenue: route({
    id: 'reportRevenue',
    method: 'GET',
    path: '/api/finance/reports/revenue',
    tag,
    summary: 'Revenue, cost and margin of days, by anything.',
    access: FINANCE,
    query: z.strictObject({
      ...revenueQuery,
      limit: z.coerce.number().int().min(1).max(5_000).default(1_000),
    }),
    answer: revenueView,
  }),
  revenueCsv: route({
    id: 'exportRevenue',
    method: 'GET',
    path: '/api/finance/reports/revenue.csv',
    tag,
    summary: 'The same as a file with all rows.',
    access: FINANCE,
    query: z.strictObject(revenueQuery),
    produces: ['text/csv'],
  }),
  priceChanges: route({
    id: 'reportPriceChanges',
    method: 'GET',
    path: '/api/finance/reports/price-changes',
    tag,
    summary: 'Versions of prices, multipliers and group rules, the latest first, with what each earned.',
    access: FINANCE,
    query: z.strictObject({
      ...versionsQuery,
      limit: z.coerce.number().int().min(1).max(5_000).default(500),
    }),
    answer: z.object({ versions: z.array(priceChangeView) }),
  }),
  priceChangesCsv: route({
    id: 'exportPriceChanges',
    method: 'GET',
    path: '/api/finance/reports/price-changes.csv',
    tag,
    summary: 'The same as a file with all of them.',
    access: FINANCE,
    query: z.strictObject(versionsQuery),
    produces: ['text/csv'],
  }),
};
