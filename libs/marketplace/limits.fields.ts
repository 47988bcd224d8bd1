import { z } from 'zod';
import type { ModelLimits } from '#catalog/catalog.js';

const seconds = z.int().min(1).max(3_600).optional();
const tokens = z.int().min(1).max(100_000_000).optional();
const words = (pattern: RegExp, such: string) =>
  z
    .array(z.string().regex(pattern, `must be such as ${such}`))
    .max(50)
    .readonly()
    .optional();

/** Every limit. One that is added to the catalog must be added here to compile. */
const fields = {
  maxImages: z.int().min(1).max(1_000).optional(),
  minInputImages: z.int().min(0).max(16).optional(),
  defaultSeconds: seconds,
  minSeconds: seconds,
  maxSeconds: seconds,
  resolutions: words(/^[\w:.-]{1,40}$/, '720p'),
  aspectRatios: words(/^\d{1,4}:\d{1,4}$/, '16:9'),
  sizes: words(/^\d{1,5}x\d{1,5}$/, '1280x720'),
  maxInputTokens: tokens,
  maxOutputTokens: tokens,
  maxChoices: z.int().min(1).max(128).optional(),
} satisfies Record<keyof ModelLimits, z.ZodType>;

export const limitsFields = z
  .strictObject(fields)
  .describe('What a call can request from the model. Omitted limits do not apply.');
