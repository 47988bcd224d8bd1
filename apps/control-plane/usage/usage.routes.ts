import { z } from 'zod';
import { day, id, time } from '#platform/http/fields.js';
import { groupName, modelName } from '#marketplace/prices/price-change.fields.js';
import { balances, statementEntry, statementViews } from '#usage/statement.store.js';
import { chartRanges } from '#usage/chart-span.js';
import { chartSubjects } from '#usage/usage-chart.js';
import { modelFamilies } from '#pricing/price-book.js';
import { usageEntry, usageStates } from '#usage/usage.store.js';
import { routesFor } from '../http/route.js';
import { usageChart, dailyTotal, foundRequest } from '#usage/usage.view.js';

const times = {
  from: time.optional().describe('At or after this time.'),
  to: time.optional().describe('Before this time.'),
};

const workFilter = {
  keyId: id.optional(),
  model: modelName.optional(),
  group: groupName.optional(),
  family: z.enum(modelFamilies).optional(),
};

const usageFilter = {
  ...workFilter,
  state: z.enum(usageStates).optional(),
  ...times,
};

const statementFilter = {
  view: z
    .enum(statementViews)
    .optional()
    .describe(
      '`requests`: the main balance, with one line per request for its cost. `entries` (default): every movement.',
    ),
  balance: z.enum(balances).optional(),
  kind: z
    .string()
    .regex(/^[a-z_-]{1,40}$/, 'must be a kind of posting, such as topup, hold, settle or release')
    .optional(),
  keyId: id.optional(),
  model: modelName.optional(),
  ...times,
};

const SPARSE =
  'Newest first. A page searches a limited number of requests, so it can have fewer items than its limit, or none, and still have a `nextCursor`.';

/** The lists that an account has of itself, and support and finance of every account. */
const REQUESTS = { load: 'query', description: SPARSE, query: usageFilter } as const;
const TRANSACTIONS = { load: 'query', description: SPARSE, query: statementFilter } as const;
const DAYS = {
  reads: 'reports',
  load: 'query',
  description: 'By UTC day, newest first. Default: the last 31 days. At most 92 days.',
  query: { ...usageFilter, by: z.enum(['model', 'key']).optional() },
} as const;

const chartQuery = z.strictObject({
  range: z.enum(chartRanges).default('30d').describe('The range up to now.'),
  from: day.optional().describe('The first UTC day, instead of a range.'),
  to: day.optional().describe('The last UTC day, inclusive. Default: the day of `from`.'),
  by: z.enum(chartSubjects).default('model'),
  ...workFilter,
});

const anyId = z.strictObject({
  id: z
    .string()
    .trim()
    .min(8, 'must have at least 8 characters')
    .max(200)
    .describe('The ID of the request, its charge, its task, or the task at the upstream.'),
});
const found = z.object({ items: z.array(foundRequest) });

const forUsers = routesFor(['user'], 'Usage');
const forStaff = routesFor(['support', 'finance', 'admin'], 'Usage');
const forSupportAndFinance = routesFor(['support', 'finance'], 'Usage');

export const usageRoutes = {
  usage: forUsers.list(usageEntry)('listUsage', '/api/usage', {
    ...REQUESTS,
    summary: 'List your requests.',
    csv: ['downloadUsage', 'Download your requests as CSV.'],
  }),
  chart: forUsers.get('chartUsage', '/api/usage/chart', {
    reads: 'reports',
    load: 'query',
    summary: 'Get usage over time by model, key, group or type, compared with the previous period.',
    description:
      'Steps are 5 minutes for one hour, hours for 24 hours, and otherwise UTC days, of which at most 92. Requests in progress are not included.',
    query: chartQuery,
    answer: usageChart,
  }),
  find: forUsers.get('findRequests', '/api/requests', {
    summary: 'Find your requests by any ID.',
    query: anyId,
    answer: found,
  }),
  findAny: forStaff.get('findAnyRequests', '/api/support/requests', {
    summary: 'Find requests of any account by any ID.',
    query: anyId,
    answer: found,
  }),
  daily: forUsers.list(dailyTotal)('listDailyUsage', '/api/usage/daily', {
    ...DAYS,
    summary: 'Get your usage by day, and by model or key.',
  }),
  statement: forUsers.list(statementEntry)('listStatement', '/api/statement', {
    ...TRANSACTIONS,
    summary: 'List transactions on your balances, in credits.',
    csv: ['downloadStatement', 'Download transactions on your balances as CSV.'],
  }),
  accountUsage: forSupportAndFinance.list(usageEntry)(
    'listAccountUsage',
    '/api/support/accounts/{accountId}/usage',
    {
      ...REQUESTS,
      summary: 'List the requests of an account.',
      csv: ['downloadAccountUsage', 'Download the requests of an account as CSV.'],
    },
  ),
  accountDaily: forSupportAndFinance.list(dailyTotal)(
    'listAccountDailyUsage',
    '/api/support/accounts/{accountId}/usage/daily',
    {
      ...DAYS,
      summary: 'Get the usage of an account by day, and by model or key.',
    },
  ),
  accountStatement: forSupportAndFinance.list(statementEntry)(
    'listAccountStatement',
    '/api/support/accounts/{accountId}/statement',
    {
      ...TRANSACTIONS,
      summary: 'List transactions on the balances of an account.',
      csv: ['downloadAccountStatement', 'Download transactions on the balances of an account as CSV.'],
    },
  ),
};
