import { z } from 'zod';
import { historyEntry, listedModel } from '#marketplace/price-list.view.js';
import { groupName, modelName } from '#marketplace/prices/price-change.fields.js';
import { modelFamilies } from '#pricing/price-book.js';
import { routesFor } from '../http/route.js';

const filters = {
  family: z.enum(modelFamilies).optional(),
  vendor: z.string().max(100).optional(),
  group: groupName.optional(),
  text: z.string().max(100).optional().describe('Matches part of the model or vendor name.'),
};

const done = {
  delivered: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .meta({
      description:
        'The share of requests that succeeded, with equal weight for each customer. Null if there were too few customers.',
      examples: [0.998],
    }),
  latencyMs: z
    .int()
    .nullable()
    .describe("The median customer's time from request to result. Null if there were too few customers."),
};

const modelRecord = z
  .object({
    ...done,
    days: z
      .array(z.object({ day: z.string().meta({ examples: ['2026-01-31'] }), ...done }))
      .describe('UTC days up to yesterday, oldest first.'),
  })
  .meta({ id: 'ModelRecord' });

const serviceStatus = z
  .object({
    isAnswering: z.boolean().describe('Whether API requests are being answered.'),
    families: z
      .array(
        z.object({
          family: z.enum(modelFamilies),
          available: z.boolean().describe('Whether any model of the type can be called.'),
          ...modelRecord.shape,
        }),
      )
      .describe('The model types on the price list, each with the average of its models.'),
  })
  .meta({ id: 'ServiceStatus' });

const CACHING = 'Answers have an ETag; `If-None-Match` returns 304.';

const ITS_GROUPS =
  'Covers groups open to every account or, with a session, those that the account can create keys in.';

const forAll = routesFor('public', 'Marketplace');
const forReaders = routesFor(['admin', 'finance'], 'Prices');
const ofModel = z.strictObject({ model: modelName });

export const marketRoutes = {
  prices: forAll.list(listedModel)('listPrices', '/api/public/prices', {
    summary: 'Get the public price list by type and vendor.',
    description: `Prices in force now, in credits. ${ITS_GROUPS} ${CACHING}`,
    query: filters,
  }),
  history: forAll.list(historyEntry)('getPriceHistory', '/api/public/prices/{model}/history', {
    summary: 'Get the price history of a model, including announced changes.',
    description: `Newest first, including announced prices. ${ITS_GROUPS} ${CACHING}`,
    params: ofModel,
  }),
  wholeHistory: forReaders.list(historyEntry)('getWholePriceHistory', '/api/admin/prices/{model}/history', {
    summary: 'Get the price history of a model in all groups.',
    params: ofModel,
  }),
  record: forAll.get('getModelRecord', '/api/public/models/{model}/record', {
    summary: 'Get the success rate and latency of a model over the last 30 days.',
    description: `Covers all customers. A day is added a few hours after it ends, if at least five customers used the model. ${CACHING}`,
    params: ofModel,
    answer: modelRecord,
  }),
  status: forAll.get('getServiceStatus', '/api/public/status', {
    summary: 'Get whether requests are answered, and the last 30 days of each model type.',
    description: `Updated every 30 seconds. Days are counted as in the records of models. ${CACHING}`,
    answer: serviceStatus,
  }),
};
