import { z } from 'zod';
import { amountView, timeView, timeZone } from '#platform/http/fields.js';
import { routesFor } from '../http/route.js';
import { accountTaskView } from '../tasks/task.view.js';
import { usageEntry } from '#usage/usage.store.js';

const sums = {
  spent: amountView.describe('Credits charged, by request time.'),
  requests: z.int().describe('Requests that were accepted and have ended.'),
  failures: z.int().describe('Requests that were refunded in full.'),
  givenBack: amountView.describe('Held credits of failed requests, all of which were released.'),
};
const day = z
  .object({ day: z.string().meta({ examples: ['2026-01-31'] }), ...sums })
  .meta({ id: 'OverviewDay' });

const forUsers = routesFor(['user'], 'Account');

export const overviewRoutes = {
  show: forUsers.get('getOverview', '/api/overview', {
    summary: 'Get an overview: balances, the last 30 days, running tasks and recent requests.',
    query: z.strictObject({ zone: timeZone.default('UTC') }),
    answer: z.object({
      balance: z.object({
        main: amountView,
        held: amountView,
        invite: amountView,
        refundPending: amountView,
      }),
      frozen: z.boolean(),
      zone: z.string(),
      today: day,
      days: z.array(day).describe('The last 30 days in the given time zone, today last.'),
      total: z.object(sums).describe('Totals of these days.'),
      runningTasks: z.int(),
      running: z.array(accountTaskView).describe('The newest running tasks, newest first.'),
      lastRequests: z.array(usageEntry),
      at: timeView,
    }),
  }),
};
