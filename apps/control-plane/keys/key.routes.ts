import { z } from 'zod';
import { normalRange } from '#identity/ip-list.js';
import { amount, id, name, pageOf, pageQuery, time } from '#platform/http/fields.js';
import { modelName } from '#marketplace/prices/price-change.fields.js';
import { route } from '../http/route.js';
import { keyView } from './key.view.js';

const MAX_MODELS = 500;
const MAX_RANGES = 100;
const MAX_COUNT = 1_000_000;

const models = z
  .array(modelName)
  .min(1, 'must name a model; null allows all')
  .max(MAX_MODELS)
  .transform((list) => [...new Set(list)]);

const ranges = z
  .array(
    z
      .string()
      .max(60)
      .refine((text) => normalRange(text) !== null, 'must be an address or a range such as 192.0.2.0/24')
      .transform((text) => normalRange(text) as string),
  )
  .min(1, 'must name an address; null allows all')
  .max(MAX_RANGES)
  .transform((list) => [...new Set(list)])
  .meta({ description: 'IPv4 and IPv6 addresses and CIDR ranges.' });

const rules = {
  expiresAt: time.nullable().optional(),
  totalLimit: amount
    .nullable()
    .optional()
    .meta({ description: 'USD that its calls may hold ever; null: no limit.' }),
  monthlyLimit: amount.nullable().optional().meta({ description: 'USD in a UTC month; null: no limit.' }),
  allowedModels: models.nullable().optional(),
  allowedIps: ranges.nullable().optional(),
  requestsPerMinute: z.int().min(1).max(MAX_COUNT).nullable().optional(),
  maxRunningTasks: z.int().min(0).max(MAX_COUNT).nullable().optional(),
};
const tag = 'API keys';
const params = z.strictObject({ keyId: id });

export const keyRoutes = {
  list: route({
    id: 'listKeys',
    method: 'GET',
    path: '/api/keys',
    tag,
    summary: 'Your keys, the newest first.',
    access: ['user'],
    query: z.strictObject(pageQuery),
    answer: pageOf(keyView),
  }),
  create: route({
    id: 'createKey',
    method: 'POST',
    path: '/api/keys',
    tag,
    summary: 'Creates a key. The key itself is shown this once.',
    access: ['user'],
    body: z.strictObject({ name, group: z.string().min(1).max(100), ...rules }),
    answer: z.object({ ...keyView.shape, apiKey: z.string() }),
    status: 201,
    refusals: ['conflict'],
  }),
  show: route({
    id: 'getKey',
    method: 'GET',
    path: '/api/keys/{keyId}',
    tag,
    summary: 'One of your keys.',
    access: ['user'],
    params,
    answer: keyView,
  }),
  change: route({
    id: 'changeKey',
    method: 'PATCH',
    path: '/api/keys/{keyId}',
    tag,
    summary: 'Changes what is named and leaves the rest; calls that are charged from now on see it.',
    access: ['user'],
    params,
    body: z.strictObject({ name: name.optional(), ...rules }),
    answer: keyView,
  }),
  remove: route({
    id: 'deleteKey',
    method: 'DELETE',
    path: '/api/keys/{keyId}',
    tag,
    summary: 'Deletes a key for good; no call that is charged from now on passes.',
    access: ['user'],
    params,
  }),
};
