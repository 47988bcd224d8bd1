import type { Caller } from '#identity/key-authenticator.js';
import { isDay } from '#platform/times.js';
import { USAGE_DAYS, type UsageDaysQuery } from '#usage/usage-days.js';
import { declareQuery, type DeclaredField, fieldOf } from '../http/declared-body.js';
import { type Body, invalid, optionalString } from '../http/fields.js';
import { type Schema, schema } from '../openapi/operation.js';

/** The most days in one answer. */
export const MOST_DAYS = 31;
const DEFAULT_DAYS = 30;
const DAY_MS = 86_400_000;
const DAY_CHARS = 10;

export const usageQuery = declareQuery({
  from: day('The first day; thirty days before the end by default.'),
  to: day(`The last day, included: today by default. At most ${MOST_DAYS} days are answered.`),
  scope: fieldOf.word(
    ['key', 'account'],
    'Whether to count the requests of the key, the default, or of all keys of the account.',
  ),
});

export const billingQuery = declareQuery({
  start_date: looseDay('The first day.', '2026-01-01'),
  end_date: looseDay('The day after the last day. Default: tomorrow.', '2026-02-01'),
});

/** The requested usage: by default of the key itself, for the last 30 days. @throws ApiError naming the field */
export function readUsageQuery(query: Body, caller: Caller, nowMs: number): UsageDaysQuery {
  const { read } = usageQuery;
  const scope = read.scope(query) ?? 'key';
  const to = read.to(query) ?? dayAt(nowMs);
  const from = read.from(query) ?? before(to, DEFAULT_DAYS - 1);
  if (from > to) throw invalid('from', `must not be after to, which is ${to}`);
  if (from < before(to, MOST_DAYS - 1))
    throw invalid('from', `must be at most ${MOST_DAYS - 1} days before to`);
  const first = before(dayAt(nowMs), USAGE_DAYS);
  if (from < first) throw invalid('from', `must be ${first} or later: older days are in the console`);
  return { accountId: caller.accountId, keyId: scope === 'key' ? caller.keyId : null, from, to };
}

/**
 * The same as requested by OpenAI's clients, with `start_date` and an exclusive `end_date`, which can be in the future. Their
 * periods are longer than what is stored, so only the last days are returned.
 */
export function readBillingQuery(query: Body, caller: Caller, nowMs: number): UsageDaysQuery {
  const { accountId, keyId } = caller;
  const today = dayAt(nowMs);
  const end = billingQuery.read.end_date(query);
  const last = end === undefined ? today : before(end, 1);
  const to = last < today ? last : today;
  const asked = billingQuery.read.start_date(query) ?? before(to, DEFAULT_DAYS - 1);
  const first = before(to, MOST_DAYS - 1);
  return { accountId, keyId, from: asked > first ? asked : first, to };
}

function day(description: string): DeclaredField<string | undefined> {
  return {
    schema: daySchema(description),
    read: (query, param) => asDay(optionalString(query, param, DAY_CHARS), param),
  };
}

export function daySchema(description: string): Schema {
  return schema.text(description, { format: 'date', examples: ['2026-01-31'] });
}

/** Some of these clients write 2026-1-31. */
function looseDay(description: string, example: string): DeclaredField<string | undefined> {
  return {
    schema: schema.text(description, { examples: [example] }),
    read: (query, param) =>
      asDay(optionalString(query, param, DAY_CHARS)?.replace(/-(\d)(?!\d)/g, '-0$1'), param),
  };
}

function asDay(text: string | undefined, param: string): string | undefined {
  if (text === undefined || isDay(text)) return text;
  throw invalid(param, 'must be a day such as 2026-01-31');
}

function dayAt(ms: number): string {
  return new Date(ms).toISOString().slice(0, DAY_CHARS);
}

function before(day: string, days: number): string {
  return dayAt(Date.parse(day) - days * DAY_MS);
}
