import { z } from 'zod';
import { pageOf, pageQuery, time, timeView } from '#platform/http/fields.js';
import {
  failureShape,
  holdShape,
  holdTotals,
  promotionShape,
  refundDayShape,
} from '#finance/views/work-reports.view.js';
import { routesFor } from '../http/route.js';

const holdsView = z
  .object({ ...holdTotals, items: z.array(holdShape), nextCursor: z.string().nullable() })
  .meta({ id: 'HoldsReport' });

const holdsQuery = {
  overdue: z.enum(['true', 'false']).default('false').meta({ description: 'Only what is overdue.' }),
};

const range = {
  from: time.optional().meta({ description: 'Not before this time; 31 days before its end by default.' }),
  to: time.optional().meta({ description: 'Before this time; now by default. At most 92 days.' }),
};

const failuresQuery = {
  ...range,
  outstanding: z
    .enum(['true', 'false'])
    .default('false')
    .meta({ description: 'Only what did not come back.' }),
};

const promotionRange = {
  from: time.optional().meta({ description: 'Recorded not before this time.' }),
  to: time.optional().meta({ description: 'Recorded before this time.' }),
};

const forFinance = routesFor(['finance'], 'Reports', 'reports');

export const workReportRoutes = {
  holds: forFinance.get('reportHolds', '/api/finance/reports/holds', {
    summary: 'List holds and their age, oldest first.',
    query: z.strictObject({ ...pageQuery, ...holdsQuery }),
    answer: holdsView,
  }),
  holdsCsv: forFinance.csv('downloadHolds', '/api/finance/reports/holds.csv', {
    summary: 'Download holds as CSV, oldest first.',
    query: z.strictObject(holdsQuery),
  }),
  refunds: forFinance.get('reportRefunds', '/api/finance/reports/refunds', {
    summary: 'Compare refunds with failures by UTC day, with the time they took.',
    description:
      'A failure is work that failed after its price was held. The latency is the time from the failure to the posting of the refund.',
    query: z.strictObject(range),
    answer: z.object({ from: timeView, to: timeView, days: z.array(refundDayShape) }),
  }),
  refundsCsv: forFinance.csv('downloadRefunds', '/api/finance/reports/refunds.csv', {
    summary: 'Download refunds against failures by UTC day as CSV.',
    query: z.strictObject(range),
  }),
  failures: forFinance.get('listFailures', '/api/finance/reports/refunds/failures', {
    summary: 'List failures with the time of their refund, newest first.',
    query: z.strictObject({ ...pageQuery, ...failuresQuery }),
    answer: pageOf(failureShape),
  }),
  failuresCsv: forFinance.csv('downloadFailures', '/api/finance/reports/refunds/failures.csv', {
    summary: 'Download failures with the time of their refund as CSV.',
    query: z.strictObject(failuresQuery),
  }),
  promotion: forFinance.get('reportPromotion', '/api/finance/reports/promotion', {
    summary: 'Get the cost of invites: rewards, reversals, transfers and use.',
    description:
      'Invite balances roll forward: opening + given − clawedBack − moved = closing. What left issued:promo is given − clawedBack. Used are credits that nobody paid for, as far as lots are brought along.',
    query: z.strictObject(promotionRange),
    answer: promotionShape,
  }),
  promotionCsv: forFinance.csv('downloadPromotion', '/api/finance/reports/promotion.csv', {
    summary: 'Download the daily cost of invites with opening and closing balances as CSV.',
    query: z.strictObject(promotionRange),
  }),
};
