import { z } from 'zod';
import { queryFlag, id, pageOf, pageQuery } from '#platform/http/fields.js';
import { deferredRevenueView, lotView } from '#finance/views/deferred-revenue.view.js';
import { routesFor } from '../http/route.js';
import { dayRange } from '../http/report-range.js';

const lots = {
  to: dayRange.to,
  accountId: id.optional(),
  left: queryFlag('Only lots with unused credits or deferred revenue.'),
};

const forFinance = routesFor(['finance'], 'Reports', 'reports');

export const deferredRevenueRoutes = {
  deferredRevenue: forFinance.get('reportDeferredRevenue', '/api/finance/reports/deferred-revenue', {
    summary: 'Get deferred revenue from opening to closing balance, by ledger and by lots.',
    query: z.strictObject(dayRange),
    answer: deferredRevenueView,
    csv: ['exportDeferredRevenue', 'Download deferred revenue as CSV.'],
  }),
  lots: forFinance.get('listDeferredLots', '/api/finance/reports/deferred-revenue/lots', {
    summary: 'List the credit lots behind deferred revenue at the end of a day, oldest first.',
    query: z.strictObject({ ...pageQuery, ...lots }),
    answer: pageOf(lotView).extend({ currency: z.string() }),
    csv: ['exportDeferredLots', 'Download all credit lots as CSV.'],
  }),
};
