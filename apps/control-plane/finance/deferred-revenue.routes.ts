import { z } from 'zod';
import { id, pageOf, pageQuery } from '#platform/http/fields.js';
import { deferredRevenueView, lotView } from '#finance/views/deferred-revenue.view.js';
import { day } from '#finance/views/costs.view.js';
import { route } from '../http/route.js';

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
