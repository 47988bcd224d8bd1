import { z } from 'zod';
import { timeView } from '#platform/http/fields.js';
import { limitsFields } from '#marketplace/limits.fields.js';
import { groupName, modelName, priceFields, productFields } from '#marketplace/prices/price-change.fields.js';
import { modelFamilies } from '#pricing/price-book.js';
import { routesFor } from '../http/route.js';

const multiplierView = z.string().meta({ description: 'An exact decimal string.', examples: ['1'] });

const available = z.boolean().meta({
  description:
    'Whether an enabled upstream is configured. It does not say whether the upstream is responding.',
});

const listedModel = z
  .object({
    id: z.string(),
    family: z.enum(modelFamilies),
    vendor: z.string(),
    unit: z.enum(['call', 'second', 'million_tokens']),
    aliasOf: z
      .string()
      .nullable()
      .meta({ description: 'The model that this is an alias of, and whose price it has.' }),
    listPrice: priceFields.nullable(),
    groups: z.array(
      z.object({
        group: z.string(),
        rule: z.enum(['list', 'fixed_per_call']).meta({
          description:
            '`fixed_per_call`: the group has a fixed price per call, regardless of the list price.',
        }),
        multiplier: multiplierView,
        price: productFields.meta({
          description: 'The exact price of a unit in the group. Amounts are rounded up.',
        }),
        available,
      }),
    ),
    limits: limitsFields,
    available,
    nextChangeAt: timeView
      .nullable()
      .meta({ description: 'When the next announced price takes effect. Null if none is announced.' }),
  })
  .meta({ id: 'ListedModel' });

const historyEntry = z
  .object({
    kind: z.enum(['price', 'multiplier', 'rule']),
    group: z
      .string()
      .nullable()
      .meta({ description: 'The group of a multiplier or rule. Null for the list price.' }),
    effectiveFrom: timeView.nullable().meta({ description: 'Null means from the beginning.' }),
    state: z.enum(['past', 'in_force', 'announced']),
    price: priceFields.nullable().meta({ description: 'Null if withdrawn, or not a price.' }),
    multiplier: multiplierView.nullable(),
  })
  .meta({ id: 'PriceHistoryEntry' });

const filters = {
  family: z.enum(modelFamilies).optional(),
  vendor: z.string().max(100).optional(),
  group: groupName.optional(),
  text: z.string().max(100).optional().meta({ description: 'Matches part of the model or vendor name.' }),
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
  latencyMs: z.int().nullable().meta({
    description: "The median customer's time from request to result. Null if there were too few customers.",
  }),
};

const modelRecord = z
  .object({
    ...done,
    days: z
      .array(z.object({ day: z.string().meta({ examples: ['2026-01-31'] }), ...done }))
      .meta({ description: 'UTC days up to yesterday, oldest first.' }),
  })
  .meta({ id: 'ModelRecord' });

const serviceStatus = z
  .object({
    isAnswering: z.boolean().meta({ description: 'Whether API requests are being answered.' }),
    families: z
      .array(
        z.object({
          family: z.enum(modelFamilies),
          available: z.boolean().meta({ description: 'Whether any model of the type can be called.' }),
          ...modelRecord.shape,
        }),
      )
      .meta({ description: 'The model types on the price list, each with the average of its models.' }),
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
