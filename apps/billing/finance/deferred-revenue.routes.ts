import { z } from 'zod';
import { deferredMoves } from '#finance/reports/deferred-revenue.js';
import { amountView, id, pageOf, pageQuery, timeView } from '../http/fields.js';
import { route } from '../http/route.js';
import { day } from './costs.routes.js';

const money = z
  .string()
  .meta({ description: 'Of the currency, a decimal string.', examples: ['1300', '-0.07'] });

export const deferredRevenueView = z.object({
  from: day,
  to: day,
  currency: z.string().meta({
    description: 'Payments in other currencies stand in suspense until they are credited or returned.',
    examples: ['USD'],
  }),
  completeTo: timeView.nullable().meta({ description: 'What was recorded before is in it for good.' }),
  recognisedTo: timeView
    .nullable()
    .meta({ description: 'Uses that were recorded before are recognised; later ones are deferred still.' }),
  ledgerAccountId: z.string().meta({ description: 'Its statement has the entries.' }),
  opening: money,
  lines: z.array(
    z.object({
      move: z.enum(deferredMoves).meta({
        description:
          'topups: paid for credit; suspense_credited: paid before, credited now; recognised: revenue of used credit; chargeback_loss: credit that covered the debt of a chargeback; refunded; charged_back: the unused part of a disputed top-up; chargebacks_won: that came back; other: anything else.',
      }),
      family: z.string().nullable().meta({ description: 'Of recognised: of which work, or adjustment.' }),
      amount: money,
      transactions: z.string(),
    }),
  ),
  closing: money,
  lots: z
    .object({
      paid: money.meta({ description: 'For all lots, less what went with refunds and chargebacks.' }),
      recognised: money,
      pendingRefunds: money.meta({
        description: 'Set aside, and still deferred until the provider answers.',
      }),
      deferred: money.meta({ description: 'paid - recognised + pendingRefunds.' }),
      unusedCredits: amountView.meta({ description: 'Of all lots, also of those that nobody paid for.' }),
    })
    .meta({ description: 'The closing balance as the lots of credit tell it.' }),
  agrees: z.boolean().meta({ description: 'Whether all of it comes to the same.' }),
});

const credits = (description: string) => amountView.meta({ description: `USD of credit: ${description}` });

export const lotView = z.object({
  lotId: z.string(),
  accountId: z.string(),
  topupId: z.string().nullable().meta({ description: 'Null: nobody paid for it.' }),
  transactionId: z.string().meta({ description: 'The ledger transaction that brought it.' }),
  boughtAt: timeView,
  bought: credits('all of it.'),
  paid: money.meta({ description: 'For all of it: its basis.' }),
  consumed: credits('used, debts that it covered included.'),
  restored: credits('of that, given back after settlement.'),
  refunded: credits('on its way back to the customer, or there.'),
  chargedBack: credits('gone with a chargeback.'),
  reversed: credits('gone with an adjustment or a write-off that was reversed.'),
  left: credits('bought - consumed + restored - refunded - chargedBack - reversed.'),
  recognised: money,
  pendingRefunds: money,
  deferred: money.meta({ description: 'All lots together are the closing balance of deferred revenue.' }),
});

const days = {
  from: day.optional().meta({ description: 'The first day of UTC; the first of this month when left out.' }),
  to: day.optional().meta({ description: 'The day after the last; tomorrow when left out.' }),
};
const lots = {
  to: days.to,
  accountId: id.optional(),
  left: z.enum(['true', 'false']).default('false').meta({
    description: 'Only lots of which something is left, or deferred.',
  }),
};

export const deferredRevenueRoutes = {
  deferredRevenue: route({
    id: 'reportDeferredRevenue',
    method: 'GET',
    path: '/api/finance/reports/deferred-revenue',
    tag: 'Reports',
    summary: 'How deferred revenue went from its opening to its closing balance, and what the lots say.',
    access: ['finance'],
    query: z.strictObject(days),
    answer: deferredRevenueView,
  }),
  deferredRevenueCsv: route({
    id: 'exportDeferredRevenue',
    method: 'GET',
    path: '/api/finance/reports/deferred-revenue.csv',
    tag: 'Reports',
    summary: 'The same as a file.',
    access: ['finance'],
    query: z.strictObject(days),
    produces: ['text/csv'],
  }),
  lots: route({
    id: 'listDeferredLots',
    method: 'GET',
    path: '/api/finance/reports/deferred-revenue/lots',
    tag: 'Reports',
    summary:
      'The lots of credit that deferred revenue is made of at the end of a day, in the order in which they came.',
    access: ['finance'],
    query: z.strictObject({ ...pageQuery, ...lots }),
    answer: pageOf(lotView).extend({ currency: z.string() }),
  }),
  lotsCsv: route({
    id: 'exportDeferredLots',
    method: 'GET',
    path: '/api/finance/reports/deferred-revenue/lots.csv',
    tag: 'Reports',
    summary: 'The same as a file with all of them.',
    access: ['finance'],
    query: z.strictObject(lots),
    produces: ['text/csv'],
  }),
};
