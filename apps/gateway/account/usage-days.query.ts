import type { Caller } from '#identity/key-authenticator.js';
import { ApiError } from '#platform/errors.js';
import { isDay } from '#platform/times.js';
import { USAGE_DAYS, type UsageDaysQuery } from '#usage/usage-days.js';
import { type Body, invalid, optionalString, optionalWord } from '../http/fields.js';

/** The most days in one answer. */
export const MOST_DAYS = 31;
const DEFAULT_DAYS = 30;
const DAY_MS = 86_400_000;
const DAY_CHARS = 10;

/** The requested usage: by default of the key itself, for the last 30 days. @throws ApiError naming the field */
export function readUsageQuery(query: Body, caller: Caller, nowMs: number): UsageDaysQuery {
  const scope = optionalWord(query, 'scope', ['key', 'account']) ?? 'key';
  const to = dayIn(query, 'to') ?? dayAt(nowMs);
  const from = dayIn(query, 'from') ?? before(to, DEFAULT_DAYS - 1);
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
  const end = looseDay(query, 'end_date');
  const last = end === undefined ? today : before(end, 1);
  const to = last < today ? last : today;
  const asked = looseDay(query, 'start_date') ?? before(to, DEFAULT_DAYS - 1);
  const first = before(to, MOST_DAYS - 1);
  return { accountId, keyId, from: asked > first ? asked : first, to };
}

function dayIn(query: Body, param: string): string | undefined {
  const text = optionalString(query, param, DAY_CHARS);
  if (text === undefined || isDay(text)) return text;
  throw notADay(param);
}

/** Some of these clients write 2026-1-31. */
function looseDay(query: Body, param: string): string | undefined {
  const text = optionalString(query, param, DAY_CHARS)?.replace(/-(\d)(?!\d)/g, '-0$1');
  if (text === undefined || isDay(text)) return text;
  throw notADay(param);
}

function notADay(param: string): ApiError {
  return invalid(param, 'must be a day such as 2026-01-31');
}

function dayAt(ms: number): string {
  return new Date(ms).toISOString().slice(0, DAY_CHARS);
}

function before(day: string, days: number): string {
  return dayAt(Date.parse(day) - days * DAY_MS);
}
