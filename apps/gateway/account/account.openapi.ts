import {
  flagSchema,
  integerSchema,
  json,
  listSchema,
  nullable,
  objectSchema,
  oneOfWords,
  type Operation,
  type Schema,
  textSchema,
  UNIX_SECONDS,
} from '../openapi/operation.js';
import { MOST_DAYS } from './usage-days.query.js';

const TAG = 'Account';
const ofDay = (description: string) => textSchema(description, { format: 'date', examples: ['2026-01-31'] });
const amount = (description: string, example = '0.02') =>
  textSchema(`${description} Credits, a decimal string.`, { examples: [example] });
const spending = (description: string): Schema => ({
  ...objectSchema({
    limit: nullable(amount('Null: no limit.', '20')),
    used: amount('What was charged, and what is held.', '3.5'),
    remaining: nullable(amount('Null: no limit.', '16.5')),
  }),
  description,
});
const count = integerSchema(undefined, { minimum: 0 });
const object = (name: string): Schema => ({ const: name });

const KEY = objectSchema({
  object: object('key'),
  id: textSchema(),
  name: textSchema(undefined, { examples: ['production'] }),
  prefix: nullable(textSchema('How the key begins.')),
  group: textSchema('Decides which models it reaches and at what price.'),
  created_at: UNIX_SECONDS,
  expires_at: nullable(UNIX_SECONDS),
  allowed_models: nullable(listSchema(textSchema(), { description: 'Null: every model of the group.' })),
  fallback_models: nullable(
    listSchema(textSchema(), {
      description: 'Asked in this order when the one model of a request cannot serve it. Null: none.',
    }),
  ),
  allowed_ips: nullable(listSchema(textSchema(), { description: 'Null: from every address.' })),
  limits: objectSchema({
    requests_per_minute: nullable(integerSchema('The least of those of the key, its group and its account.')),
    tokens_per_minute: nullable(
      integerSchema('The least of those of the key and its account. Null: no limit.'),
    ),
    images_per_minute: nullable(integerSchema('The same of images.')),
    concurrent_requests: nullable(integerSchema('Likewise.')),
  }),
  spending: objectSchema({
    total: spending('By this key.'),
    month: spending('By this key in this month of UTC.'),
    account_month: spending('By all keys of the account in this month; 0 used where it has no limit.'),
  }),
  spendable: amount(
    'The least of the balance and of what each limit leaves; 0 while the account is frozen.',
    '16.5',
  ),
});

export const retrieveKeyOperation: Operation = {
  id: 'retrieveKey',
  tag: TAG,
  summary: 'Get the key, its limits, and what it can still spend.',
  answers: { 200: { description: 'The key that the request was sent with.', content: json(KEY) } },
  refusals: ['rate_limit_exceeded'],
};

export const retrieveCreditsOperation: Operation = {
  id: 'retrieveCredits',
  tag: TAG,
  summary: 'Get the credits of the account.',
  answers: {
    200: {
      description: 'The balances at this moment.',
      content: json(
        objectSchema({
          object: object('credits'),
          available: amount('What calls can spend.', '12.5'),
          held: amount('Held for requests in progress.'),
          invite: amount('Rewards that were not moved to the balance yet.', '0'),
          refund_pending: amount('On its way back to where it was paid from.', '0'),
          frozen: flagSchema('A frozen account cannot spend.'),
        }),
      ),
    },
  },
  refusals: ['rate_limit_exceeded', 'not_found'],
};

const DAY = objectSchema({
  object: object('usage.day'),
  day: ofDay('Of UTC: when its requests began.'),
  model: textSchema(undefined, { examples: ['vendora-imagine-image'] }),
  requests: count,
  failed: integerSchema('Of them, those that were refunded in full.', { minimum: 0 }),
  amount: amount('What was charged.'),
});

export const listUsageOperation: Operation = {
  id: 'listUsage',
  tag: TAG,
  summary: 'Get usage by day and model.',
  description:
    'Requests that ended, newest day first; one that tried several models counts once for each. Later refunds are in the charges alone.',
  query: {
    from: ofDay('The first day; thirty days before the end by default.'),
    to: ofDay(`The last day, included: today by default. At most ${MOST_DAYS} days are answered.`),
    scope: oneOfWords(['key', 'account'], 'Of the key itself, the default, or of all keys of the account.'),
  },
  answers: {
    200: {
      description: 'All days with usage: there is no further page.',
      content: json(
        objectSchema({
          object: object('list'),
          scope: oneOfWords(['key', 'account']),
          from: ofDay('The first day.'),
          to: ofDay('The last day.'),
          data: listSchema(DAY),
          total: objectSchema({ requests: count, failed: count, amount: amount('What was charged.') }),
        }),
      ),
    },
  },
  refusals: ['rate_limit_exceeded', 'invalid_value', 'invalid_type'],
};

const LINES = nullable(
  listSchema(
    objectSchema({
      kind: textSchema(undefined, { examples: ['input'] }),
      units: textSchema('A whole number.'),
      unit_price: textSchema('Credits for one token.'),
      amount: amount('Of the line.'),
    }),
    { description: 'Null for work that is not priced by the token.' },
  ),
);

const DIMENSIONS: Schema = {
  type: 'object',
  description:
    'What the request asked for that the unit price may depend on; empty where it left that to the vendor.',
  additionalProperties: textSchema(),
  examples: [{ size: '1024x1024', quality: 'high' }],
};

const CHARGE = objectSchema({
  object: object('charge'),
  id: textSchema('Of the charge. For the first model of a request it is the id of the request.'),
  request_id: nullable(textSchema()),
  key_id: nullable(textSchema()),
  model: nullable(textSchema()),
  group: nullable(textSchema()),
  state: oneOfWords(['refused', 'held', 'settled', 'released']),
  created_at: UNIX_SECONDS,
  ended_at: nullable(UNIX_SECONDS),
  price: nullable(
    objectSchema({
      rule: oneOfWords(['list', 'fixed_per_call']),
      units: textSchema('A whole number of images, seconds or calls.', { examples: ['2'] }),
      dimensions: DIMENSIONS,
      unit_price: nullable(
        textSchema('Credits for one unit; null where lines have theirs.', { examples: ['0.02'] }),
      ),
      multiplier: textSchema('Of the group.', { examples: ['1'] }),
      lines: LINES,
      rounding: textSchema(),
    }),
  ),
  held: amount('Before the work began.'),
  settled: nullable(amount('Charged when it was delivered.')),
  released: nullable(amount('Of the hold, what went back to the balance.')),
  refunded: amount('Later, by support.', '0'),
  charged: amount('What the request cost in the end.'),
  delivered: nullable(objectSchema({ units: textSchema('A whole number.'), lines: LINES })),
  reason: nullable(textSchema('Why nothing was delivered.')),
  refusal: nullable(objectSchema({ code: textSchema(), message: nullable(textSchema()) })),
  refunds: listSchema(
    objectSchema({ id: textSchema(), amount: amount('Refunded.'), at: UNIX_SECONDS, reason: textSchema() }),
  ),
  task: nullable(objectSchema({ id: textSchema(), state: textSchema() })),
  attempts: listSchema(
    objectSchema({
      id: textSchema('Of its charge.'),
      model: nullable(textSchema()),
      state: oneOfWords(['refused', 'held', 'settled', 'released']),
      code: nullable(textSchema('Why this model did not serve the request.')),
    }),
    { description: 'The models that were tried, in order; this charge is that of the last.' },
  ),
});

export const retrieveChargeOperation: Operation = {
  id: 'retrieveCharge',
  tag: TAG,
  summary: 'Get a charge: price, hold, settlement and refunds.',
  path: { id: 'The `x-request-id` of the answer to a request of your account.' },
  answers: { 200: { description: 'The charge as it is now.', content: json(CHARGE) } },
  refusals: ['rate_limit_exceeded', 'not_found'],
};

const dollars: Schema = {
  type: 'number',
  description: 'All that the key has used and can still spend, in credits, which are worth a dollar each.',
};

export const retrieveSubscriptionOperation: Operation = {
  id: 'retrieveSubscription',
  tag: TAG,
  summary: 'Get the balance in the legacy format of OpenAI.',
  description:
    'What is left is `hard_limit_usd` less a hundredth of `total_usage`. Count with `/v1/key` instead: it is exact.',
  answers: {
    200: {
      description: 'The limits of the key that the request was sent with.',
      content: json(
        objectSchema({
          object: object('billing_subscription'),
          has_payment_method: flagSchema('Always true.'),
          soft_limit_usd: dollars,
          hard_limit_usd: dollars,
          system_hard_limit_usd: dollars,
          access_until: integerSchema('Unix seconds; 0 for a key that does not expire.'),
        }),
      ),
    },
  },
  refusals: ['rate_limit_exceeded'],
};

const cents: Schema = { type: 'number', description: 'US cents.' };

export const retrieveBillingUsageOperation: Operation = {
  id: 'retrieveBillingUsage',
  tag: TAG,
  summary: 'Get usage in the legacy format of OpenAI.',
  description: `\`total_usage\` is all that the key has ever used; \`daily_costs\` has the last ${MOST_DAYS} days of the period.`,
  query: {
    start_date: textSchema('The first day.', { examples: ['2026-01-01'] }),
    end_date: textSchema('The day after the last one: tomorrow by default.', { examples: ['2026-02-01'] }),
  },
  answers: {
    200: {
      description: 'Costs of the key that the request was sent with.',
      content: json(
        objectSchema({
          object: object('list'),
          total_usage: cents,
          daily_costs: listSchema(
            objectSchema({
              timestamp: UNIX_SECONDS,
              line_items: listSchema(objectSchema({ name: textSchema('The model.'), cost: cents })),
            }),
          ),
        }),
      ),
    },
  },
  refusals: ['rate_limit_exceeded', 'invalid_value', 'invalid_type'],
};
