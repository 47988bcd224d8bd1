import { z } from 'zod';
import { amountView, id, timeView } from '#platform/http/fields.js';
import type { KeyWithSpend } from '#people/keys/key.service.js';

export const keyView = z
  .object({
    keyId: id,
    name: z.string(),
    prefix: z.string().nullable().describe('The first characters of the key.'),
    group: z.string(),
    expiresAt: timeView.nullable(),
    totalLimit: amountView.nullable(),
    monthlyLimit: amountView.nullable(),
    spent: amountView,
    spentThisMonth: amountView,
    allowedModels: z.array(z.string()).nullable(),
    fallbackModels: z.array(z.string()).nullable(),
    allowedIps: z.array(z.string()).nullable(),
    requestsPerMinute: z.int().nullable(),
    tokensPerMinute: z.int().nullable(),
    imagesPerMinute: z.int().nullable(),
    maxRunningTasks: z.int().nullable(),
    lastUsedAt: timeView.nullable().describe('Accurate to the minute.'),
    createdAt: timeView,
  })
  .meta({ id: 'Key' });

export function viewKey({ id: keyId, ...key }: KeyWithSpend): z.input<typeof keyView> {
  return { ...key, keyId };
}
