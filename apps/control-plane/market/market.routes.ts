import { z } from 'zod';
import { pageOf, pageQuery, timeView } from '#platform/http/fields.js';
import { limitsFields } from '#marketplace/limits.fields.js';
import { groupName, modelName, priceFields } from '#marketplace/prices/price-change.fields.js';
import { routesFor } from '../http/route.js';

const families = ['image', 'video', 'chat', 'speech', '3d'] as const;

const multiplierView = z.string().meta({ description: 'An exact decimal string.', examples: ['1'] });

const available = z.boolean().meta({
  description:
    'Whether an enabled upstream is configured. Whether it answers at the moment is known to the gateways, not here.',
});

const listedModel = z
  .object({
    id: z.string(),
    family: z.enum(families),
    vendor: z.string(),
    unit: z.enum(['call', 'second', 'million_tokens']),
    aliasOf: z.string().nullable().meta({ description: 'The model whose price this one has.' }),
    listPrice: priceFields.nullable(),
    groups: z.array(
      z.object({
        group: z.string(),
        rule: z.enum(['list', 'fixed_per_call']).meta({
          description: 'fixed_per_call: the group has one price for each call, whatever the list price.',
        }),
        multiplier: multiplierView,
        price: priceFields.meta({
          description: 'What a unit costs in the group, exactly; amounts are rounded up.',
        }),
        available,
      }),
    ),
    limits: limitsFields,
    available,
    nextChangeAt: timeView.nullable().meta({ description: 'When a new price is announced for, if one is.' }),
  })
  .meta({ id: 'ListedModel' });

const historyEntry = z
  .object({
    kind: z.enum(['price', 'multiplier', 'rule']),
    group: z.string().nullable().meta({ description: 'Of a multiplier or a rule; null for the list price.' }),
    effectiveFrom: timeView.nullable().meta({ description: 'Null: from the beginning.' }),
    state: z.enum(['past', 'in_force', 'announced']),
    price: priceFields.nullable().meta({ description: 'Null: withdrawn, or no price.' }),
    multiplier: multiplierView.nullable(),
  })
  .meta({ id: 'PriceHistoryEntry' });

const filters = {
  family: z.enum(families).optional(),
  vendor: z.string().max(100).optional(),
  group: groupName.optional(),
  text: z.string().max(100).optional().meta({ description: 'Part of the model or the vendor.' }),
};

const done = {
  delivered: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .meta({
      description:
        'The share of requests that were delivered; each customer counts the same. Null where there were few customers.',
      examples: [0.998],
    }),
  latencyMs: z.int().nullable().meta({
    description:
      'From the request to its result, of the customer in the middle. Null where there were few customers.',
  }),
};

const modelRecord = z
  .object({
    ...done,
    days: z
      .array(z.object({ day: z.string().meta({ examples: ['2026-01-31'] }), ...done }))
      .meta({ description: 'UTC days, the oldest first, up to yesterday.' }),
  })
  .meta({ id: 'ModelRecord' });

const serviceStatus = z
  .object({
    isAnswering: z.boolean().meta({ description: 'Whether requests of programs are answered.' }),
    families: z
      .array(
        z.object({
          family: z.enum(families),
          available: z.boolean().meta({ description: 'Whether some model of the type can be called.' }),
          ...modelRecord.shape,
        }),
      )
      .meta({ description: 'The types of model on the price list, each the average of its models.' }),
  })
  .meta({ id: 'ServiceStatus' });

const CACHING = 'Answers carry an ETag; If-None-Match gets 304.';

const ITS_GROUPS =
  'Of the groups that everybody may create keys in, or, with a session, that the account may.';

const forAll = routesFor('public', 'Marketplace');
const forReaders = routesFor(['admin', 'finance'], 'Prices');
const ofModel = z.strictObject({ model: modelName });

export const marketRoutes = {
  prices: forAll.get('listPrices', '/api/public/prices', {
    summary: 'Get the public price list by type and vendor.',
    description: `Prices in force now, in credits. ${ITS_GROUPS} ${CACHING}`,
    query: z.strictObject({ ...pageQuery, ...filters }),
    answer: pageOf(listedModel),
  }),
  history: forAll.get('getPriceHistory', '/api/public/prices/{model}/history', {
    summary: 'Get the price history of a model, including announced changes.',
    description: `Newest first, announced ones included. ${ITS_GROUPS} ${CACHING}`,
    params: ofModel,
    query: z.strictObject(pageQuery),
    answer: pageOf(historyEntry),
  }),
  wholeHistory: forReaders.get('getWholePriceHistory', '/api/admin/prices/{model}/history', {
    summary: 'Get the price history of a model in all groups.',
    params: ofModel,
    query: z.strictObject(pageQuery),
    answer: pageOf(historyEntry),
  }),
  record: forAll.get('getModelRecord', '/api/public/models/{model}/record', {
    summary: 'Get the success rate and latency of a model over the last 30 days.',
    description: `Over all customers. A day is added some hours after it is over, if at least five customers used the model. ${CACHING}`,
    params: ofModel,
    answer: modelRecord,
  }),
  status: forAll.get('getServiceStatus', '/api/public/status', {
    summary: 'Whether requests are answered, and how each type of model did in the last 30 days.',
    description: `Read once in half a minute. Days as in the records of models. ${CACHING}`,
    answer: serviceStatus,
  }),
};
