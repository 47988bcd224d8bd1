import { z } from 'zod';
import { MODEL_ID } from '#catalog/model-id.js';
import { ONE_LINE } from '#platform/http/fields.js';
import type { optionalPrices } from '#pricing/price-text.js';
import type { MediaName } from '#pricing/token-kinds.js';
import type { Dimensions } from '#pricing/rates.js';
import type { PriceChange } from './price-change.js';
import { formats } from './price-fault.js';

const MAX_CHANGES = 5_000;

/** Exact, as stored: "1.25", never NaN, an exponent or a sign. */
export const decimal = z
  .string()
  .regex(/^\d{1,12}(\.\d{1,18})?$/, formats.not_decimal)
  .meta({ description: 'An exact, non-negative decimal string.', examples: ['0.02'] });

export const modelName = z.string().regex(MODEL_ID, formats.not_model);

export const groupName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, formats.not_group);

const MAX_RATES = 64;

const asked = z
  .string()
  .regex(/^[a-z0-9][a-z0-9.:_-]{0,31}$/, formats.not_value)
  .optional();

/** Request properties that prices may depend on. */
export const dimensionFields = z.strictObject({
  size: asked,
  quality: asked,
  resolution: asked,
  input: z.enum(['none', 'image']).optional(),
  mode: z.enum(['draft', 'texture']).optional(),
  audio: z.enum(['on', 'off']).optional(),
}) satisfies z.ZodType<Dimensions>;

const seconds = z
  .string()
  .regex(/^[1-9]\d{0,5}$/, formats.not_seconds)
  .optional();

const whenFields = dimensionFields
  .extend({ length: seconds })
  .refine((when) => Object.values(when).some((value) => value !== undefined), {
    message: 'must name at least one value, such as "quality": "high"',
  })
  .describe(
    'A request must match all of these, in lower case. Images: `size` (such as `1024x1024`, or the aspect ratio if a request gives no size), `quality`, `resolution`, `input` (`image` if the request includes images). Videos: `resolution`, `audio` (`off` if the request asks for none), `length` (whole seconds; the unit price is still per second). 3D: `mode`, `input`. Values that a request omits are `auto`; `input` is then `none`, `mode` `draft` and `audio` `on`.',
  );

/** Amounts per million tokens of images and sound, which a price or a cost may omit. */
export const mediaFields = mediaFieldsOf(decimal);

function mediaFieldsOf(amount: z.ZodString) {
  return {
    imageInput: amount.optional(),
    cachedImageInput: amount.optional(),
    imageOutput: amount.optional(),
    audioInput: amount.optional(),
    cachedAudioInput: amount.optional(),
    audioOutput: amount.optional(),
  } satisfies Record<MediaName, z.ZodType>;
}

function tokenFieldsOf(amount: z.ZodString) {
  return {
    cacheWrite: amount.optional(),
    cacheWrite1h: amount.optional(),
    ...mediaFieldsOf(amount),
  } satisfies Record<(typeof optionalPrices)[number], z.ZodType>;
}

function priceFieldsOf(amount: z.ZodString) {
  const rate = z.strictObject({ when: whenFields, unitPrice: amount });
  const rates = z
    .array(rate)
    .max(MAX_RATES, `must hold at most ${MAX_RATES} rates`)
    .optional()
    .describe(
      'Special unit prices. The first one whose values all match the request applies, otherwise `unitPrice`, which should be the highest.',
    );
  return z.union([
    z.strictObject({ unitPrice: amount, rates }),
    z.strictObject({ input: amount, cachedInput: amount, output: amount, ...tokenFieldsOf(amount) }),
  ]);
}

/** Prices times a multiplier, in answers: exact, so with more decimals than either. */
export const productFields = priceFieldsOf(z.string());

/** Credits per call or second, or per million tokens of each kind. */
export const priceFields = priceFieldsOf(decimal).describe(
  'In credits: `unitPrice` per call or second of video, or `input`, `cachedInput` and `output` per million tokens. Optional per million tokens: `cacheWrite` and `cacheWrite1h` for tokens cached for five minutes or one hour (default: 1.25 and 2 times `input`), and `imageInput`, `cachedImageInput`, `imageOutput`, `audioInput`, `cachedAudioInput` and `audioOutput`. Image and audio tokens without a price cost as much as text; cached ones without a price of their own cost as much as uncached ones.',
);

/** One new value. The subject is the model or the group. */
export const changeFields = z.union([
  z.strictObject({ kind: z.literal('price'), model: modelName, price: priceFields.nullable() }),
  z.strictObject({ kind: z.literal('multiplier'), group: groupName, multiplier: decimal.nullable() }),
  z.strictObject({
    kind: z.literal('rule'),
    group: groupName,
    rule: z.literal('fixed_per_call'),
    unitPrice: decimal,
  }),
  z.strictObject({ kind: z.literal('rule'), group: groupName, rule: z.literal('none') }),
]) satisfies z.ZodType<PriceChange>;

export const changesField = z
  .array(changeFields)
  .min(1, 'must hold a change')
  .max(MAX_CHANGES, `must hold at most ${MAX_CHANGES} changes`);

export const noteField = z
  .string()
  .trim()
  .max(500, 'must have at most 500 characters')
  .regex(ONE_LINE, 'must be one line without control characters');
