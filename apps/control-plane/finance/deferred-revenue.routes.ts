import { z } from 'zod';
import { id, pageOf, pageQuery } from '#platform/http/fields.js';
import { deferredRevenueView, lotView } from '#finance/views/deferred-revenue.view.js';
import { utcDay } from '#finance/views/costs.view.js';
import { routesFor } from '../http/route.js';

const days = {
  from: utcDay.optional().meta({ description: 'The first UTC day. Default: the first day of this month.' }),
  to: utcDay.optional().meta({ description: 'The day after the last day. Default: tomorrow.' }),
};
const lots = {
  to: days.to,
  accountId: id.optional(),
  left: z.enum(['true', 'false']).default('false').meta({
    description: 'Only lots with unused credits or deferred revenue.',
  }),
};

const forFinance = routesFor(['finance'], 'Reports', 'reports');

export const deferredRevenueRoutes = {
  deferredRevenue: forFinance.get('reportDeferredRevenue', '/api/finance/reports/deferred-revenue', {
    summary: 'Get deferred revenue from opening to closing balance, by ledger and by lots.',
    query: z.strictObject(days),
    answer: deferredRevenueView,
  }),
  deferredRevenueCsv: forFinance.csv('exportDeferredRevenue', '/api/finance/reports/deferred-revenue.csv', {
    summary: 'Download deferred revenue as CSV.',
    query: z.strictObject(days),
  }),
  lots: forFinance.get('listDeferredLots', '/api/finance/reports/deferred-revenue/lots', {
    summary: 'List the credit lots behind deferred revenue at the end of a day, oldest first.',
    query: z.strictObject({ ...pageQuery, ...lots }),
    answer: pageOf(lotView).extend({ currency: z.string() }),
  }),
  lotsCsv: forFinance.csv('exportDeferredLots', '/api/finance/reports/deferred-revenue/lots.csv', {
    summary: 'Download all credit lots as CSV.',
    query: z.strictObject(lots),
  }),
};
