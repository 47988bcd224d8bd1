import { z } from 'zod';
import { normalRange } from '#identity/ip-list.js';
import { creditAmount, name, time } from '#platform/http/fields.js';
import { MAX_ATTEMPTS } from '#ledger/charges/charge-ids.js';
import { modelName } from '#marketplace/prices/price-change.fields.js';
import { routesFor } from '../http/route.js';
import { keyView } from './key.view.js';

const MAX_MODELS = 500;
const MAX_RANGES = 100;
const MAX_COUNT = 1_000_000;
const MAX_UNITS = 1_000_000_000;

const models = z
  .array(modelName)
  .min(1, 'must name a model; null allows all')
  .max(MAX_MODELS)
  .transform((list) => [...new Set(list)]);

const fallbacks = z
  .array(modelName)
  .min(1, 'must name a model; null for none')
  .max(MAX_ATTEMPTS - 1)
  .transform((list) => [...new Set(list)])
  .describe(
    'Fallback models, tried in this order if the requested model is busy, failing or has no channel. Applies to requests that name one model. The price is that of the model that served the request.',
  );

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
  .describe('IPv4 and IPv6 addresses and CIDR ranges.');

const rules = {
  expiresAt: time.nullable().optional(),
  totalLimit: creditAmount
    .nullable()
    .optional()
    .describe('Credits that the key can spend in total. Null means no limit.'),
  monthlyLimit: creditAmount.nullable().optional().describe('Credits per UTC month. Null means no limit.'),
  allowedModels: models.nullable().optional(),
  fallbackModels: fallbacks.nullable().optional(),
  allowedIps: ranges.nullable().optional(),
  requestsPerMinute: z.int().min(1).max(MAX_COUNT).nullable().optional(),
  tokensPerMinute: z.int().min(1).max(MAX_UNITS).nullable().optional(),
  imagesPerMinute: z.int().min(1).max(MAX_UNITS).nullable().optional(),
  maxRunningTasks: z.int().min(0).max(MAX_COUNT).nullable().optional(),
};

const forUsers = routesFor(['user'], 'API keys');

export const keyRoutes = {
  list: forUsers.list(keyView)('listKeys', '/api/keys', {
    summary: 'List your keys, newest first.',
  }),
  create: forUsers.post('createKey', '/api/keys', {
    summary: 'Create a key. It is shown only once.',
    body: z.strictObject({ name, group: z.string().min(1).max(100), ...rules }),
    answer: z.object({ ...keyView.shape, apiKey: z.string() }),
    status: 201,
    refusals: ['account_closing', 'conflict', 'too_many_attempts'],
  }),
  first: forUsers.post('createFirstKey', '/api/keys/first', {
    summary: 'Get the first key of an account, created if no key works.',
    description: 'Repeated requests create only one key. The key itself is shown only when it is created.',
    body: z.strictObject({ name, group: z.string().min(1).max(100) }),
    answer: z.object({ ...keyView.shape, apiKey: z.string().nullable() }),
    refusals: ['account_closing', 'conflict', 'too_many_attempts'],
  }),
  show: forUsers.get('getKey', '/api/keys/{keyId}', {
    summary: 'Get one of your keys.',
    answer: keyView,
  }),
  change: forUsers.patch('changeKey', '/api/keys/{keyId}', {
    summary: 'Change the given fields. Takes effect for new paid calls.',
    body: z.strictObject({ name: name.optional(), ...rules }),
    answer: keyView,
    refusals: ['too_many_attempts'],
  }),
  remove: forUsers.delete('deleteKey', '/api/keys/{keyId}', {
    summary: 'Delete a key permanently. New paid calls with it are refused.',
  }),
};
