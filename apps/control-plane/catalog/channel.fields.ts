import { z } from 'zod';
import { modelName } from '#marketplace/prices/price-change.fields.js';

export const channelId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'must be lower-case letters, digits, dots and dashes');

export const apiKeys = z
  .array(
    z
      .string()
      .max(10_000)
      .regex(
        /^[\x21-\x7e]{1,500}$|^\s*\{[\x20-\x7e\s]+\}\s*$/,
        'must be printable and without blanks, or the JSON document of a service account',
      ),
  )
  .min(1, 'must hold a key')
  .max(100)
  .describe(
    'Used in turn. They are never shown; `keyMarks` tells them apart. For `vertex`, the JSON of service accounts.',
  );

export const channelFields = {
  baseUrl: z.string().max(500).describe('Must be https unless private addresses are allowed.'),
  enabled: z.boolean(),
  priority: z.int().min(-1_000).max(1_000).describe('Channels with a higher priority are tried first.'),
  weight: z.int().min(1).max(1_000_000).describe('Share of requests among channels with the same priority.'),
  requestTimeoutMs: z.int().min(100).max(3_600_000),
  maxConcurrency: z.int().min(1).max(1_000_000).nullable(),
  allowPrivateAddress: z
    .boolean()
    .describe('For your own upstreams: allows plain http and addresses that are not public.'),
  honoursIdempotency: z
    .boolean()
    .describe(
      'The upstream returns the same task when a create request is repeated with the same Idempotency-Key.',
    ),
};

export const webhookSecret = z
  .string()
  .max(200)
  .nullable()
  .describe(
    'What the vendor signs its webhooks with: `whsec_` and the secret in base64. `replicate` and `openai` need it. It is never shown: `webhookSecretMark` tells one from another and is null without one. null removes it.',
  );

export const routedModels = z
  .record(modelName, z.string().regex(/^[\x21-\x7e]{1,200}$/, 'must be the name of a model'))
  .describe("Maps each model to the upstream's name for it.");
