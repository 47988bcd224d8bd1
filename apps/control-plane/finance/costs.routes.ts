import { z } from 'zod';
import { id, pageOf, pageQuery, requestId, time, timeView } from '#platform/http/fields.js';
import { reasonText } from '#payments/payment.fields.js';
import { modelName } from '#marketplace/prices/price-change.fields.js';
import {
  channelBillsView,
  day,
  costImportView,
  cost,
  costView,
  billView,
  chargeMarginView,
} from '#finance/views/costs.view.js';
import { route } from '../http/route.js';

const tag = 'Costs';
const FINANCE = ['finance'] as const;
const READERS = ['finance', 'admin'] as const;

const COSTS = '/api/finance/upstream-costs';
const BILLS = '/api/finance/upstream-bills';
const channel = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/i, 'must be the id of a channel');
export const costRoutes = {
  list: route({
    id: 'listUpstreamCosts',
    method: 'GET',
    path: COSTS,
    tag,
    summary: 'What channels take for models: versions, the newest first.',
    access: READERS,
    query: z.strictObject({
      ...pageQuery,
      channel: channel.optional(),
      model: modelName.optional(),
      inForce: z
        .enum(['true', 'false'])
        .default('false')
        .transform((text) => text === 'true')
        .meta({ description: 'Only what is in force now.' }),
    }),
    answer: pageOf(costView),
  }),
  set: route({
    id: 'setUpstreamCost',
    method: 'POST',
    path: COSTS,
    tag,
    summary: 'Set what a channel takes for a model.',
    description:
      'Applies to charges that end from then on. A recorded cost never changes; corrections are made when the bill of the upstream is recorded.',
    access: FINANCE,
    body: z.strictObject({
      channel,
      model: modelName,
      cost: cost.nullable(),
      billsFailures: z.boolean().default(false),
      effectiveFrom: time.nullable().default(null).meta({
        description:
          'Null: now, or, where no cost was known, from the beginning; charges that waited for it get their cost.',
      }),
      reason: reasonText,
      requestId,
    }),
    answer: costView,
    status: 201,
    refusals: ['conflict'],
  }),
  import: route({
    id: 'importUpstreamCosts',
    method: 'POST',
    path: `${COSTS}/import`,
    tag,
    summary: 'Set costs from a CSV file; all of its rows or, where one is refused, none.',
    description:
      'Columns: channel, model, unit_cost or input_cost, cached_input_cost and output_cost, bills_failures (yes, no), effective_from, withdrawn (yes). Rows that ask for what is in force change nothing.',
    access: FINANCE,
    query: z.strictObject({
      reason: reasonText.default('Import'),
      requestId,
      dryRun: z
        .enum(['true', 'false'])
        .default('false')
        .transform((text) => text === 'true'),
    }),
    body: z.string(),
    consumes: 'text/csv',
    answer: costImportView,
    refusals: ['conflict'],
  }),
  bills: route({
    id: 'listUpstreamBills',
    method: 'GET',
    path: BILLS,
    tag,
    summary: 'Bills of upstreams, the newest first.',
    access: READERS,
    query: z.strictObject({ ...pageQuery, channel: channel.optional() }),
    answer: pageOf(billView),
  }),
  recordBill: route({
    id: 'recordUpstreamBill',
    method: 'POST',
    path: BILLS,
    tag,
    summary: 'Record what an upstream billed.',
    description:
      'It clears the accrued costs of its days; the difference is an expense of the last day. The same number of a channel with the same content gives the same answer.',
    access: FINANCE,
    body: z.strictObject({
      channel,
      number: z
        .string()
        .trim()
        .regex(/^[\x20-\x7e]{1,100}$/, 'must be 1 to 100 printable characters'),
      from: day,
      to: day.meta({ description: 'The day after the last that it is for; not after today.' }),
      amount: z
        .string()
        .regex(/^-?\d{1,9}(\.\d{1,9})?$/, 'must be a decimal string with at most 9 decimals, such as "120.5"')
        .meta({ description: 'USD, a decimal string; below zero for a credit note.' }),
      requestId,
    }),
    answer: billView,
    status: 201,
    refusals: ['conflict'],
  }),
  billsReport: route({
    id: 'reportUpstreamBills',
    method: 'GET',
    path: '/api/finance/reports/upstream-bills',
    tag,
    summary: 'Accrued costs against bills, by channel.',
    access: FINANCE,
    answer: z.object({ costsTo: timeView.nullable(), channels: z.array(channelBillsView) }),
  }),
  charge: route({
    id: 'getChargeMargin',
    method: 'GET',
    path: '/api/finance/charges/{chargeId}',
    tag,
    summary: 'A charge with what it did cost, and its margin.',
    access: FINANCE,
    params: z.strictObject({ chargeId: id }),
    answer: chargeMarginView,
  }),
};
