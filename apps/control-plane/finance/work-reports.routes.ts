import { z } from 'zod';
import { queryFlag, pageQuery, time, timeView } from '#platform/http/fields.js';
import {
  failureShape,
  holdShape,
  holdTotals,
  promotionShape,
  refundDayShape,
} from '#finance/views/work-reports.view.js';
import { routesFor } from '../http/route.js';
import { timeRange } from '../http/report-range.js';

const holdsView = z
  .object({ ...holdTotals, items: z.array(holdShape), nextCursor: z.string().nullable() })
  .meta({ id: 'HoldsReport' });

const holdsQuery = {
  overdue: queryFlag('Only overdue holds.'),
};

const failuresQuery = { ...timeRange, outstanding: queryFlag('Only failures without a refund.') };

const promotionRange = {
  from: time.optional().describe('Recorded at or after this time.'),
  to: time.optional().describe('Recorded before this time.'),
};

const forFinance = routesFor(['finance'], 'Reports', 'reports');

export const workReportRoutes = {
  holds: forFinance.get('reportHolds', '/api/finance/reports/holds', {
    summary: 'List holds and their age, oldest first.',
    query: z.strictObject({ ...pageQuery, ...holdsQuery }),
    answer: holdsView,
    csv: ['downloadHolds', 'Download holds as CSV, oldest first.'],
  }),
  refunds: forFinance.get('reportRefunds', '/api/finance/reports/refunds', {
    summary: 'Compare refunds with failures by UTC day, with their latency.',
    description:
      'A failure is a request that failed after its price was held. The latency is the time from the failure to the posting of the refund.',
    query: z.strictObject(timeRange),
    answer: z.object({ from: timeView, to: timeView, days: z.array(refundDayShape) }),
    csv: ['downloadRefunds', 'Download refunds against failures by UTC day as CSV.'],
  }),
  failures: forFinance.list(failureShape)('listFailures', '/api/finance/reports/refunds/failures', {
    summary: 'List failures with the time of their refund, newest first.',
    query: failuresQuery,
    csv: ['downloadFailures', 'Download failures with the time of their refund as CSV.'],
  }),
  promotion: forFinance.get('reportPromotion', '/api/finance/reports/promotion', {
    summary: 'Get the cost of invites: rewards, reversals, transfers and use.',
    description:
      'Invite balances roll forward: opening + given − clawedBack − moved = closing. given − clawedBack is what left `issued:promo`. Used credits are those that nobody paid for, as far as lots are up to date.',
    query: z.strictObject(promotionRange),
    answer: promotionShape,
    csv: [
      'downloadPromotion',
      'Download the daily cost of invites with opening and closing balances as CSV.',
    ],
  }),
};
