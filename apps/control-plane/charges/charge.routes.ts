import { z } from 'zod';
import { optionalPrices } from '#pricing/price-text.js';
import { lineKinds } from '#pricing/token-kinds.js';
import { amountView, id, timeView, numberText } from '#platform/http/fields.js';
import { dimensionFields, groupName, modelName } from '#marketplace/prices/price-change.fields.js';
import { routesFor } from '../http/route.js';

const decimalView = z.string().describe('An exact decimal string.');
const wholeView = z
  .union([z.bigint(), z.number(), z.string()])
  .transform(String)
  .pipe(z.string().regex(/^\d+$/))
  .meta({ description: 'A whole number.', examples: ['3'] });

const version = z
  .object({ id: numberText, effectiveFrom: timeView.nullable() })
  .nullable()
  .describe('`effectiveFrom` is null for the version in force from the beginning.')
  .meta({ id: 'PriceVersion' });

const line = z
  .object({
    kind: z.enum(lineKinds),
    units: wholeView,
    unitPrice: decimalView.describe('Credits per token.'),
    amount: amountView,
  })
  .meta({ id: 'ChargeLine' });

const said = z.string().optional();

const terms = {
  model: z.string(),
  group: z.string(),
  rule: z.enum(['list', 'fixed_per_call']),
  units: wholeView,
  unitPrice: decimalView.nullable().describe('Null if priced by the token: see the lines.'),
  multiplier: decimalView,
  lines: z.array(line).nullable(),
  versions: z.object({ price: version, multiplier: version, groupRule: version }),
  rounding: z.string(),
};

const chargeStates = ['refused', 'held', 'settled', 'released'] as const;

const chargeView = z
  .object({
    id: z.string(),
    accountId: z.string(),
    keyId: z.string().nullable(),
    requestId: z.string().nullable(),
    requestedModel: z.string().nullable(),
    family: z.string().nullable(),
    model: z.string().nullable(),
    group: z.string().nullable(),
    state: z.enum(chargeStates),
    pricing: z
      .object({
        ...terms,
        dimensions: z
          .object({ size: said, quality: said, resolution: said, input: said, mode: said, audio: said })
          .describe('The properties of the request that can affect the unit price.'),
      })
      .omit({ model: true, group: true })
      .nullable()
      .describe('How the price was calculated. Null if the request was refused before pricing.'),
    refusal: z.object({ code: z.string(), message: z.string() }).nullable(),
    hold: z.object({ amount: amountView, at: timeView }).nullable(),
    settlement: z
      .object({
        amount: amountView,
        at: timeView,
        deliveredUnits: wholeView,
        lines: z.array(line).nullable(),
      })
      .nullable(),
    release: z.object({ amount: amountView, at: timeView, reason: z.string().nullable() }).nullable(),
    refunds: z.array(z.object({ id: z.string(), amount: amountView, at: timeView, reason: z.string() })),
    operatorLoss: amountView.describe('Usage beyond the hold, which the customer is not charged for.'),
    task: z
      .object({ id: z.string(), state: z.string(), createdAt: timeView, endedAt: timeView.nullable() })
      .nullable(),
    upstream: z.object({
      status: z.int().nullable(),
      latencyMs: z.int().nullable(),
      channel: z.string().nullable().describe('Visible to staff only; null for customers.'),
    }),
    recomputed: z
      .object({ hold: amountView, settlement: amountView, operatorLoss: amountView })
      .nullable()
      .describe('The same amounts, recalculated now from the recorded versions.'),
    attempts: z
      .array(
        z.object({
          id: z.string(),
          model: z.string().nullable(),
          state: z.enum(chargeStates),
          code: z.string().nullable(),
        }),
      )
      .describe('All charges of the request in order, one per model tried, including this one.'),
    agrees: z
      .boolean()
      .nullable()
      .describe(
        'Whether the recalculation matches the stored amounts, using the versions in force at the hold.',
      ),
    timeline: z.array(z.object({ at: timeView, what: z.string(), amount: amountView.nullable() })),
    transactions: z.array(
      z.object({
        id: numberText,
        kind: z.string(),
        reference: z.string(),
        at: timeView,
        entries: z.array(
          z.object({ ledgerAccount: z.string(), amount: amountView, balanceAfter: amountView.nullable() }),
        ),
      }),
    ),
  })
  .meta({ id: 'Charge' });

const mostTokens = 100_000_000;
const tokens = z.int().min(0).max(mostTokens);
const mostCalls = 1_000_000;
const count = z.int().min(1).max(mostCalls);

const tokenNames = ['input', 'cachedInput', 'output', ...optionalPrices] as const;

/** One field for each kind of token. */
function ofTokens<T extends z.ZodType>(field: T) {
  return Object.fromEntries(tokenNames.map((name) => [name, field])) as Record<
    (typeof tokenNames)[number],
    T
  >;
}

/** What a price is calculated from. */
const work = {
  n: count.optional(),
  seconds: count.optional(),
  dimensions: dimensionFields
    .optional()
    .describe('Further properties that the price depends on. Omitted properties have their default.'),
  tokens: z.strictObject(ofTokens(tokens.default(0))).optional(),
};

type Dotted<Prefix extends string, Shape> = {
  [Name in keyof Shape & string as `${Prefix}.${Name}`]: Shape[Name];
};

/** The fields of an object as they are named in an address. */
function dotted<Prefix extends string, Shape extends z.ZodRawShape>(prefix: Prefix, shape: Shape) {
  const named = Object.entries(shape).map(([name, field]) => [`${prefix}.${name}`, field]);
  return Object.fromEntries(named) as Dotted<Prefix, Shape>;
}

/** A whole number in digits. An empty text is not zero. */
function inAddress(field: typeof count) {
  const numberOf = (text: unknown) => (/^\d{1,9}$/.test(String(text)) ? Number(text) : text);
  return z.preprocess(numberOf, field.optional());
}

const countInAddress = inAddress(count);
const tokensInAddress = inAddress(tokens);

const workInAddress = {
  n: countInAddress,
  seconds: countInAddress,
  ...dotted('dimensions', dimensionFields.shape),
  ...dotted('tokens', ofTokens(tokensInAddress)),
};

const quoteView = { ...terms, amount: amountView };

const forAll = routesFor('public', 'Charges');
const forUsers = routesFor(['user'], 'Charges');
const forReaders = routesFor(['support', 'finance', 'admin'], 'Charges');

export const chargeRoutes = {
  show: forUsers.get('getCharge', '/api/charges/{chargeId}', {
    summary: 'Get a charge with its price calculation.',
    answer: chargeView,
  }),
  support: forReaders.get('getAnyCharge', '/api/support/charges/{chargeId}', {
    summary: 'Get a charge of any account with its price calculation.',
    answer: chargeView,
  }),
  quote: forUsers.post('quote', '/api/quote', {
    summary: 'Quote a request without charging it.',
    description:
      "Calculated by the code that charges. Send `n` (default 1) for models priced per call, `seconds` (default: the model's) for models priced per second, and `tokens` or a `text` for models priced per token. With `text`, the amount is the hold: the most that the request can cost.",
    body: z.strictObject({
      model: modelName,
      group: groupName
        .optional()
        .describe('A group of one of your keys. Optional if your keys are all in one group.'),
      keyId: id
        .optional()
        .describe("One of your keys, instead of a group. The key's list of models also applies."),
      ...work,
      text: z
        .string()
        .max(100_000)
        .optional()
        .describe('The prompt, or the text to speak, from which tokens are estimated.'),
      maxOutputTokens: tokens
        .min(1)
        .optional()
        .describe("With `text`: the maximum length of the answer in tokens. Default: the model's maximum."),
    }),
    answer: z.object({
      ...quoteView,
      at: timeView,
      estimate: z
        .object({ input: wholeView, likelyInput: wholeView, output: wholeView })
        .nullable()
        .describe('With `text`: the tokens held, and an estimate.'),
      balance: amountView,
      covered: z.boolean().describe('Whether your current balance covers the amount.'),
    }),
    refusals: ['model_not_found', 'model_not_allowed', 'not_found'],
  }),
  listed: forAll.get('quoteForAll', '/api/public/quote', {
    summary: 'Quote a request in a group, without signing in.',
    description:
      'Covers groups open to every account or, with a session, those that the account can create keys in. Takes the parameters of `/api/quote`, with dots for nested fields: `dimensions.quality=high`, `tokens.input=2000`. Answers have an ETag; `If-None-Match` returns 304. These requests have their own rate limit.',
    query: z.strictObject({ model: modelName, group: groupName, ...workInAddress }),
    answer: z.object(quoteView),
    countedApart: true,
    refusals: ['model_not_found', 'missing_required_parameter'],
  }),
};
