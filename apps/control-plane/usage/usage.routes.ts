import { z } from 'zod';
import { amountView, id, pageOf, pageQuery, time, timeView } from '#platform/http/fields.js';
import { groupName, modelName } from '#marketplace/prices/price-change.fields.js';
import { balances } from '#usage/statement.store.js';
import { usageStates } from '#usage/usage.store.js';
import { route } from '../http/route.js';

const tag = 'Usage';
const staff = ['support', 'finance'] as const;
const accountParams = z.strictObject({ accountId: id });
const families = ['image', 'video', 'chat', 'speech', '3d'] as const;

const times = {
  from: time.optional().meta({ description: 'Not before this time.' }),
  to: time.optional().meta({ description: 'Before this time.' }),
};

const usageFilter = {
  keyId: id.optional(),
  model: modelName.optional(),
  group: groupName.optional(),
  family: z.enum(families).optional(),
  state: z.enum(usageStates).optional(),
  ...times,
};

const statementFilter = {
  balance: z.enum(balances).optional(),
  kind: z
    .string()
    .regex(/^[a-z_-]{1,40}$/, 'must be a kind of posting, such as topup, hold, settle or release')
    .optional(),
  keyId: id.optional(),
  model: modelName.optional(),
  ...times,
};

const whole = z.string().nullable().meta({ description: 'A whole number.' });

export const usageEntry = z
  .object({
    chargeId: z.string(),
    requestId: z.string().nullable(),
    at: timeView,
    endedAt: timeView.nullable(),
    keyId: z.string().nullable(),
    requestedModel: z.string().nullable(),
    model: z.string().nullable(),
    family: z.enum(families).nullable(),
    group: z.string().nullable(),
    state: z.enum(usageStates),
    units: whole,
    deliveredUnits: whole,
    held: amountView,
    settled: amountView.nullable(),
    released: amountView.nullable(),
    operatorLoss: amountView,
    refusalCode: z.string().nullable(),
    reason: z.string().nullable(),
    channel: z.string().nullable().meta({ description: 'Null for customers.' }),
    upstreamStatus: z.int().nullable(),
    latencyMs: z.int().nullable(),
    taskId: z.string().nullable(),
  })
  .meta({ id: 'UsageEntry' });

const statementEntry = z
  .object({
    transactionId: z.string(),
    at: timeView,
    effectiveAt: timeView,
    kind: z.string(),
    reference: z.string(),
    balance: z.enum(balances),
    amount: amountView.meta({ description: 'Positive is money in.' }),
    balanceAfter: amountView,
    chargeId: z.string().nullable(),
    model: z.string().nullable(),
    keyId: z.string().nullable(),
  })
  .meta({ id: 'StatementEntry' });

const dailyTotal = z
  .object({
    day: z.string().meta({ description: 'Of UTC, such as 2026-01-31.' }),
    model: z.string().nullable(),
    keyId: z.string().nullable(),
    requests: z.int(),
    settled: z.int(),
    released: z.int(),
    refused: z.int(),
    open: z.int(),
    amount: amountView.meta({ description: 'What was settled.' }),
  })
  .meta({ id: 'DailyTotal' });

const SPARSE =
  'Newest first. A page may hold fewer items than its limit, or none, while nextCursor goes on: it looks at so many requests at most.';
const dailyQuery = z.strictObject({ ...pageQuery, ...usageFilter, by: z.enum(['model', 'key']).optional() });
const DAILY = 'By UTC day, newest first; the last 31 days, or another time of at most 92.';
const csv = ['text/csv'];

export const usageRoutes = {
  usage: route({
    id: 'listUsage',
    method: 'GET',
    load: 'query',
    path: '/api/usage',
    tag,
    summary: 'Your requests, one by one.',
    description: SPARSE,
    access: ['user'],
    query: z.strictObject({ ...pageQuery, ...usageFilter }),
    answer: pageOf(usageEntry),
  }),
  usageCsv: route({
    id: 'downloadUsage',
    method: 'GET',
    path: '/api/usage.csv',
    tag,
    summary: 'The same, all of it, as a CSV file.',
    access: ['user'],
    query: z.strictObject(usageFilter),
    produces: csv,
  }),
  daily: route({
    id: 'listDailyUsage',
    method: 'GET',
    load: 'query',
    path: '/api/usage/daily',
    tag,
    summary: 'Your requests and what they cost by day, and by model or key.',
    description: DAILY,
    access: ['user'],
    query: dailyQuery,
    answer: pageOf(dailyTotal),
  }),
  statement: route({
    id: 'listStatement',
    method: 'GET',
    load: 'query',
    path: '/api/statement',
    tag,
    summary: 'What moved on your balances.',
    description: SPARSE,
    access: ['user'],
    query: z.strictObject({ ...pageQuery, ...statementFilter }),
    answer: pageOf(statementEntry),
  }),
  statementCsv: route({
    id: 'downloadStatement',
    method: 'GET',
    path: '/api/statement.csv',
    tag,
    summary: 'The same, all of it, as a CSV file.',
    access: ['user'],
    query: z.strictObject(statementFilter),
    produces: csv,
  }),
  accountUsage: route({
    id: 'listAccountUsage',
    method: 'GET',
    load: 'query',
    path: '/api/support/accounts/{accountId}/usage',
    tag,
    summary: 'The requests of an account, one by one.',
    description: SPARSE,
    access: staff,
    params: accountParams,
    query: z.strictObject({ ...pageQuery, ...usageFilter }),
    answer: pageOf(usageEntry),
  }),
  accountUsageCsv: route({
    id: 'downloadAccountUsage',
    method: 'GET',
    path: '/api/support/accounts/{accountId}/usage.csv',
    tag,
    summary: 'The same, all of it, as a CSV file.',
    access: staff,
    params: accountParams,
    query: z.strictObject(usageFilter),
    produces: csv,
  }),
  accountDaily: route({
    id: 'listAccountDailyUsage',
    method: 'GET',
    load: 'query',
    path: '/api/support/accounts/{accountId}/usage/daily',
    tag,
    summary: 'The requests of an account and what they cost by day, and by model or key.',
    description: DAILY,
    access: staff,
    params: accountParams,
    query: dailyQuery,
    answer: pageOf(dailyTotal),
  }),
  accountStatement: route({
    id: 'listAccountStatement',
    method: 'GET',
    load: 'query',
    path: '/api/support/accounts/{accountId}/statement',
    tag,
    summary: 'What moved on the balances of an account.',
    description: SPARSE,
    access: staff,
    params: accountParams,
    query: z.strictObject({ ...pageQuery, ...statementFilter }),
    answer: pageOf(statementEntry),
  }),
  accountStatementCsv: route({
    id: 'downloadAccountStatement',
    method: 'GET',
    path: '/api/support/accounts/{accountId}/statement.csv',
    tag,
    summary: 'The same, all of it, as a CSV file.',
    access: staff,
    params: accountParams,
    query: z.strictObject(statementFilter),
    produces: csv,
  }),
};
