import { z } from 'zod';
import { channelBillsView } from '#finance/costs/upstream-bills.js';
import { queryFlag, openTimeView, requestIdField, time, utcDay, reasonText } from '#platform/http/fields.js';
import { modelName } from '#marketplace/prices/price-change.fields.js';
import { costImportView, cost, costView, billView, chargeMarginView } from '#finance/views/costs.view.js';
import { routesFor } from '../http/route.js';

const COSTS = '/api/finance/upstream-costs';
const BILLS = '/api/finance/upstream-bills';
const channel = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/i, 'must be the id of a channel');

const forReaders = routesFor(['finance', 'admin'], 'Costs');
const forFinance = routesFor(['finance'], 'Costs');

export const costRoutes = {
  list: forReaders.list(costView)('listUpstreamCosts', COSTS, {
    summary: 'List versions of upstream costs, newest first.',
    query: {
      channel: channel.optional(),
      model: modelName.optional(),
      inForce: queryFlag('Only versions in force now.'),
    },
  }),
  set: forFinance.post('setUpstreamCost', COSTS, {
    summary: 'Set the cost of a model on a channel.',
    description:
      "Applies to charges that end from then on. Recorded costs never change; corrections are made when the upstream's bill is recorded.",
    body: z.strictObject({
      channel,
      model: modelName,
      cost: cost.nullable(),
      billsFailures: z.boolean().default(false),
      effectiveFrom: time
        .nullable()
        .default(null)
        .describe(
          'Null means now or, if no cost was known, from the beginning: charges that are waiting for a cost get it.',
        ),
      reason: reasonText,
      requestId: requestIdField,
    }),
    answer: costView,
    status: 201,
    refusals: ['conflict'],
  }),
  import: forFinance.post('importUpstreamCosts', `${COSTS}/import`, {
    summary: 'Import costs from a CSV file. If one row is refused, none is imported.',
    description:
      'Columns: channel, model, unit_cost or input_cost, cached_input_cost and output_cost, bills_failures (yes, no), effective_from, withdrawn (yes). Rows that match the cost in force change nothing.',
    query: z.strictObject({
      reason: reasonText.default('Import'),
      requestId: requestIdField,
      dryRun: queryFlag('Only check the file. Nothing is imported.'),
    }),
    body: z.string(),
    consumes: 'text/csv',
    answer: costImportView,
    refusals: ['conflict'],
  }),
  bills: forReaders.list(billView)('listUpstreamBills', BILLS, {
    summary: 'List upstream bills, newest first.',
    query: { channel: channel.optional() },
  }),
  recordBill: forFinance.post('recordUpstreamBill', BILLS, {
    summary: 'Record an upstream bill.',
    description:
      'The bill clears the accrued costs of its days, and the difference is an expense of the last day. Repeating a bill with the same channel, number and content returns the same answer.',
    body: z.strictObject({
      channel,
      number: z
        .string()
        .trim()
        .regex(/^[\x20-\x7e]{1,100}$/, 'must be 1 to 100 printable characters'),
      from: utcDay,
      to: utcDay.describe('The day after the last billed day. Not after today.'),
      amount: z
        .string()
        .regex(/^-?\d{1,9}(\.\d{1,9})?$/, 'must be a decimal string with at most 9 decimals, such as "120.5"')
        .describe('USD, as a decimal string. Negative for a credit note.'),
      requestId: requestIdField,
    }),
    answer: billView,
    status: 201,
    refusals: ['conflict'],
  }),
  billsReport: forFinance.get('reportUpstreamBills', '/api/finance/reports/upstream-bills', {
    summary: 'Compare accrued costs with bills, by channel.',
    answer: z.object({ costsTo: openTimeView, channels: z.array(channelBillsView) }),
  }),
  charge: forFinance.get('getChargeMargin', '/api/finance/charges/{chargeId}', {
    summary: 'Get a charge with its upstream cost and margin.',
    answer: chargeMarginView,
  }),
};
