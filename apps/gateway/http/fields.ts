import { ApiError } from '#platform/errors.js';
import { LongText } from '#platform/http/long-text.js';

/** The body of a request as named values; parts of a multipart body are all text. */
export type Body = Readonly<Record<string, unknown>>;

/** Returns a parsed body as an object. @throws ApiError invalid_type */
export function asBody(parsed: unknown): Body {
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed as Body;
  throw new ApiError('invalid_type', 'The body must be a JSON object.');
}

/** Whether a field was not sent, or sent as null, which is valid for every optional field. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/**
 * Text that every later stage can store and send on: bounded, and without anything that JSON allows but a database refuses.
 * @throws ApiError with the field's name
 */
export function optionalString(body: Body, param: string, maxChars: number): string | undefined {
  const value = asString(body[param], { param, maxChars });
  if (isAbsent(value)) return undefined;
  if (typeof value !== 'string') throw new ApiError('invalid_type', `${param} must be a string.`, { param });
  if (value.length > maxChars) {
    throw invalid(param, `must have at most ${maxChars} characters, not ${value.length}`);
  }
  if (value.includes('\0') || !value.isWellFormed()) throw invalid(param, 'must be well-formed text');
  return value;
}

/** Converts a long text that was kept as bytes to a string, if it can still be short enough. */
function asString(value: unknown, { param, maxChars }: { param: string; maxChars: number }): unknown {
  if (!(value instanceof LongText)) return value;
  if (value.byteLength <= maxChars * MAX_BYTES_PER_CHAR) return value.toString();
  throw invalid(param, `must have at most ${maxChars} characters`);
}

/** Text that must be present and not blank. @throws ApiError missing_required_parameter and as optionalString */
export function requiredString(body: Body, param: string, maxChars: number): string {
  const value = optionalString(body, param, maxChars);
  if (value === undefined || value.trim() === '') {
    throw new ApiError('missing_required_parameter', `${param} is required.`, { param });
  }
  return value;
}

/** A JSON number without a fraction. @throws ApiError invalid_type, also for a numeric string */
function optionalInteger(body: Body, param: string): number | undefined {
  const value = body[param];
  if (isAbsent(value)) return undefined;
  if (typeof value !== 'number') throw new ApiError('invalid_type', `${param} must be a number.`, { param });
  if (!Number.isInteger(value)) throw invalid(param, 'must be a whole number');
  return value;
}

export interface Bounds {
  minimum: number;
  maximum?: number;
}

/** The same within bounds. @throws ApiError */
export function optionalWhole(body: Body, param: string, { minimum, maximum }: Bounds): number | undefined {
  const value = optionalInteger(body, param);
  if (value === undefined || (value >= minimum && value <= (maximum ?? Infinity))) return value;
  throw invalid(
    param,
    maximum === undefined ? `must be at least ${minimum}` : `must be from ${minimum} to ${maximum}`,
  );
}

/** @throws ApiError invalid_type */
export function optionalBoolean(body: Body, param: string): boolean | undefined {
  const value = body[param];
  if (isAbsent(value)) return undefined;
  if (typeof value === 'boolean') return value;
  throw new ApiError('invalid_type', `${param} must be true or false.`, { param });
}

/** In a form all values are text. */
export function booleanOf(value: unknown): unknown {
  if (value === 'true') return true;
  return value === 'false' ? false : value;
}

/** One of the words that a field accepts. @throws ApiError */
export function optionalWord<T extends string>(
  body: Body,
  param: string,
  words: readonly T[],
): T | undefined {
  const value = optionalString(body, param, MAX_WORD_CHARS);
  if (value === undefined || (words as readonly string[]).includes(value)) return value as T | undefined;
  throw invalid(param, `must be one of ${words.join(', ')}`);
}

export function invalid(param: string, rule: string): ApiError {
  return new ApiError('invalid_value', `${param} ${rule}.`, { param });
}

/** The longest escape of a character. */
const MAX_BYTES_PER_CHAR = 6;
/** Longer than any accepted word, so that the refusal names the words rather than the length. */
const MAX_WORD_CHARS = 100;
