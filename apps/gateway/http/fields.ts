import { ApiError } from '#platform/errors.js';
import { LongText } from '#platform/http/long-text.js';
import { MAX_SHAPE_CHARS } from './limits.js';

/** The body of a request as named values; parts of a multipart body are all text. */
export type Body = Readonly<Record<string, unknown>>;

/** Takes a parsed body for an object. @throws ApiError invalid_type */
export function asBody(parsed: unknown): Body {
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed as Body;
  throw new ApiError('invalid_type', 'The body must be a JSON object.');
}

/** A field that was not sent, or sent as null, which is legal for every optional field. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/**
 * Text that every later stage can store and send on: bounded, and free of what JSON allows but a database refuses.
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

/** A text that was left as bytes for its length, as a string where it can still be short enough. */
function asString(value: unknown, { param, maxChars }: { param: string; maxChars: number }): unknown {
  if (!(value instanceof LongText)) return value;
  if (value.byteLength <= maxChars * MAX_BYTES_PER_CHAR) return value.toString();
  throw invalid(param, `must have at most ${maxChars} characters`);
}

/** Text that must be there and not be blank. @throws ApiError missing_required_parameter and as optionalString */
export function requiredString(body: Body, param: string, maxChars: number): string {
  const value = optionalString(body, param, maxChars);
  if (value === undefined || value.trim() === '') {
    throw new ApiError('missing_required_parameter', `${param} is required.`, { param });
  }
  return value;
}

/** A JSON number without a fraction. @throws ApiError invalid_type, also for a numeric string */
export function optionalInteger(body: Body, param: string): number | undefined {
  const value = body[param];
  if (isAbsent(value)) return undefined;
  if (typeof value !== 'number') throw new ApiError('invalid_type', `${param} must be a number.`, { param });
  if (!Number.isInteger(value)) throw invalid(param, 'must be a whole number');
  return value;
}

/** One of the words that a field knows. @throws ApiError */
export function optionalWord<T extends string>(
  body: Body,
  param: string,
  words: readonly T[],
): T | undefined {
  const value = optionalString(body, param, MAX_WORD_CHARS);
  if (value === undefined || (words as readonly string[]).includes(value)) return value as T | undefined;
  throw invalid(param, `must be one of ${words.join(', ')}`);
}

/** `<width>x<height>` in pixels; undefined for `auto` and when absent. @throws ApiError */
export function optionalSize(body: Body): { width: number; height: number; text: string } | undefined {
  const text = optionalString(body, 'size', MAX_SHAPE_CHARS);
  if (text === undefined || text === 'auto') return undefined;
  const match = /^(\d{1,5})x(\d{1,5})$/.exec(text);
  const width = Number(match?.[1]);
  const height = Number(match?.[2]);
  if (!(Math.min(width, height) >= MIN_SIDE_PIXELS && Math.max(width, height) <= MAX_SIDE_PIXELS)) {
    const range = `each side from ${MIN_SIDE_PIXELS} to ${MAX_SIDE_PIXELS} pixels`;
    throw invalid('size', `must be <width>x<height>, ${range}, such as 1024x1024`);
  }
  return { width, height, text: `${width}x${height}` };
}

/** `<width>:<height>`, passed on to the upstream; undefined for `auto`. @throws ApiError */
export function optionalAspectRatio(body: Body): string | undefined {
  const text = optionalString(body, 'aspect_ratio', MAX_SHAPE_CHARS);
  if (text === undefined || text === 'auto') return undefined;
  if (!/^[1-9]\d{0,4}:[1-9]\d{0,4}$/.test(text)) throw invalid('aspect_ratio', 'must look like 16:9');
  return text;
}

export function invalid(param: string, rule: string): ApiError {
  return new ApiError('invalid_value', `${param} ${rule}.`, { param });
}

/** A character that is written as an escape. */
const MAX_BYTES_PER_CHAR = 6;
/** Larger images than any upstream makes; the bound keeps a typing error from reaching one. */
const MAX_SIDE_PIXELS = 4096;
const MIN_SIDE_PIXELS = 64;
/** Longer than any word that a field knows, so that the refusal names the words and not the length. */
const MAX_WORD_CHARS = 100;
