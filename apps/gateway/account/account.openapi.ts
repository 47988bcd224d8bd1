import {
  nullable,
  type Operation,
  type Schema,
  UNIX_SECONDS,
  jsonAnswer,
  schema,
} from '../openapi/operation.js';
import { billingQuery, daySchema, MOST_DAYS, usageQuery } from './usage-days.query.js';

const TAG = 'Account';
const amount = (description: string, example = '0.02') =>
  schema.text(`${description} Credits, a decimal string.`, { examples: [example] });
const spending = (description: string): Schema => ({
  ...schema.object({
    limit: nullable(amount('Null: no limit.', '20')),
    used: amount('What was charged, and what is held.', '3.5'),
    remaining: nullable(amount('Null: no limit.', '16.5')),
  }),
  description,
});
const LOWEST = 'The lowest of the limits of the key, its group and its account. Null means no limit.';
const count = schema.integer(undefined, { minimum: 0 });
const object = (name: string): Schema => ({ const: name });

const KEY = schema.object({
  object: object('key'),
  id: schema.text(),
  name: schema.text(undefined, { examples: ['production'] }),
  prefix: nullable(schema.text('The first characters of the key.')),
  group: schema.text('Determines which models the key can use, and their prices.'),
  created_at: UNIX_SECONDS,
  expires_at: nullable(UNIX_SECONDS),
  allowed_models: nullable(
    schema.list(schema.text(), { description: 'Null means every model of the group.' }),
  ),
  fallback_models: nullable(
    schema.list(schema.text(), {
      description:
        'Fallback models, tried in this order if the requested model cannot serve a request. Null if there are none.',
    }),
  ),
  allowed_ips: nullable(schema.list(schema.text(), { description: 'Null means any address.' })),
  limits: schema.object({
    requests_per_minute: nullable(schema.integer(LOWEST)),
    tokens_per_minute: nullable(schema.integer(`${LOWEST} Chats and the like count, by estimate.`)),
    images_per_minute: nullable(
      schema.integer(`${LOWEST} Images count as requested; videos and 3D assets count as requests only.`),
    ),
    concurrent_requests: nullable(schema.integer(LOWEST)),
  }),
  spending: schema.object({
    total: spending('Spent by this key.'),
    month: spending('Spent by this key in the current UTC month.'),
    account_month: spending(
      'Spent by all keys of the account in the current UTC month. `used` is 0 if there is no limit.',
    ),
  }),
  spendable: amount(
    'The lowest of the balance and what remains of each limit. 0 while the account is frozen.',
    '16.5',
  ),
});

export const retrieveKeyOperation: Operation = {
  id: 'retrieveKey',
  tag: TAG,
  summary: 'Get the key, its limits and what it can still spend.',
  answers: jsonAnswer('The key that the request was sent with.', KEY),
  refusals: ['rate_limit_exceeded'],
};

export const retrieveCreditsOperation: Operation = {
  id: 'retrieveCredits',
  tag: TAG,
  summary: 'Get the credits of the account.',
  answers: jsonAnswer(
    'The current balances.',
    schema.object({
      object: object('credits'),
      available: amount('What calls can spend.', '12.5'),
      held: amount('Held for requests in progress.'),
      invite: amount('Rewards that were not moved to the balance yet.', '0'),
      refund_pending: amount('On its way back to where it was paid from.', '0'),
      frozen: schema.flag('A frozen account cannot spend.'),
    }),
  ),
  refusals: ['rate_limit_exceeded', 'not_found'],
};

const DAY = schema.object({
  object: object('usage.day'),
  day: daySchema('Of UTC: when its requests began.'),
  model: schema.text(undefined, { examples: ['vendora-imagine-image'] }),
  requests: count,
  failed: schema.integer('Requests that were refunded in full.', { minimum: 0 }),
  amount: amount('What was charged.'),
});

export const listUsageOperation: Operation = {
  id: 'listUsage',
  tag: TAG,
  summary: 'Get usage by day and model.',
  description:
    'Counts requests that have ended, newest day first. A request that tried several models counts once for each. Later refunds appear only in the charges.',
  query: usageQuery.schemas,
  answers: jsonAnswer(
    'All days with usage, on one page.',
    schema.object({
      object: object('list'),
      scope: schema.words(['key', 'account']),
      from: daySchema('The first day.'),
      to: daySchema('The last day.'),
      data: schema.list(DAY),
      total: schema.object({ requests: count, failed: count, amount: amount('What was charged.') }),
    }),
  ),
  refusals: ['rate_limit_exceeded', 'invalid_value', 'invalid_type'],
};

const LINES = nullable(
  schema.list(
    schema.object({
      kind: schema.text(undefined, { examples: ['input'] }),
      units: schema.text('A whole number.'),
      unit_price: schema.text('Credits per token.'),
      amount: amount('Of the line.'),
    }),
    { description: 'Null if not priced by the token.' },
  ),
);

const DIMENSIONS: Schema = {
  type: 'object',
  description:
    'The properties of the request that can affect the unit price. Empty if the request left them to the vendor.',
  additionalProperties: schema.text(),
  examples: [{ size: '1024x1024', quality: 'high' }],
};

const CHARGE = schema.object({
  object: object('charge'),
  id: schema.text('The ID of the charge. For the first model of a request it is the request ID.'),
  request_id: nullable(schema.text()),
  key_id: nullable(schema.text()),
  model: nullable(schema.text()),
  group: nullable(schema.text()),
  state: schema.words(['refused', 'held', 'settled', 'released']),
  created_at: UNIX_SECONDS,
  ended_at: nullable(UNIX_SECONDS),
  price: nullable(
    schema.object({
      rule: schema.words(['list', 'fixed_per_call']),
      units: schema.text('A whole number of images, seconds or calls.', { examples: ['2'] }),
      dimensions: DIMENSIONS,
      unit_price: nullable(
        schema.text('Credits per unit. Null if each line has its own price.', { examples: ['0.02'] }),
      ),
      multiplier: schema.text('The multiplier of the group.', { examples: ['1'] }),
      lines: LINES,
      rounding: schema.text(),
    }),
  ),
  held: amount('Before the work began.'),
  settled: nullable(amount('Charged when it was delivered.')),
  released: nullable(amount('Of the hold, what went back to the balance.')),
  refunded: amount('Later, by support.', '0'),
  charged: amount('What the request cost in the end.'),
  delivered: nullable(schema.object({ units: schema.text('A whole number.'), lines: LINES })),
  reason: nullable(schema.text('Why nothing was delivered.')),
  refusal: nullable(schema.object({ code: schema.text(), message: nullable(schema.text()) })),
  refunds: schema.list(
    schema.object({
      id: schema.text(),
      amount: amount('Refunded.'),
      at: UNIX_SECONDS,
      reason: schema.text(),
    }),
  ),
  task: nullable(schema.object({ id: schema.text(), state: schema.text() })),
  attempts: schema.list(
    schema.object({
      id: schema.text('The ID of its charge.'),
      model: nullable(schema.text()),
      state: schema.words(['refused', 'held', 'settled', 'released']),
      code: nullable(schema.text('Why this model did not serve the request.')),
    }),
    { description: 'The models tried, in order. This charge is for the last one.' },
  ),
});

export const retrieveChargeOperation: Operation = {
  id: 'retrieveCharge',
  tag: TAG,
  summary: 'Get a charge with its price, hold, settlement and refunds.',
  path: { id: 'The `x-request-id` of the answer to a request of your account.' },
  answers: jsonAnswer('The current state of the charge.', CHARGE),
  refusals: ['rate_limit_exceeded', 'not_found'],
};

const dollars: Schema = {
  type: 'number',
  description:
    'What the key has used and can still spend in total, in credits, which are worth one dollar each.',
};

export const retrieveSubscriptionOperation: Operation = {
  id: 'retrieveSubscription',
  tag: TAG,
  summary: "Get the balance in OpenAI's legacy format.",
  description:
    'The remaining balance is `hard_limit_usd` minus `total_usage` / 100. For exact amounts use `/v1/key`.',
  answers: jsonAnswer(
    'The limits of the key that the request was sent with.',
    schema.object({
      object: object('billing_subscription'),
      has_payment_method: schema.flag('Always true.'),
      soft_limit_usd: dollars,
      hard_limit_usd: dollars,
      system_hard_limit_usd: dollars,
      access_until: schema.integer('Unix time in seconds. 0 if the key does not expire.'),
    }),
  ),
  refusals: ['rate_limit_exceeded'],
};

const cents: Schema = { type: 'number', description: 'US cents.' };

export const retrieveBillingUsageOperation: Operation = {
  id: 'retrieveBillingUsage',
  tag: TAG,
  summary: "Get usage in OpenAI's legacy format.",
  description: `\`total_usage\` is the total usage of the key; \`daily_costs\` has the last ${MOST_DAYS} days of the period.`,
  query: billingQuery.schemas,
  answers: jsonAnswer(
    'Costs of the key that the request was sent with.',
    schema.object({
      object: object('list'),
      total_usage: cents,
      daily_costs: schema.list(
        schema.object({
          timestamp: UNIX_SECONDS,
          line_items: schema.list(schema.object({ name: schema.text('The model.'), cost: cents })),
        }),
      ),
    }),
  ),
  refusals: ['rate_limit_exceeded', 'invalid_value', 'invalid_type'],
};
