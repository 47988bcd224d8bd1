import { ValidateBy, type ValidationOptions } from 'class-validator';
import type { Tokens } from './tokens.js';

/** The longest amount: a sign, 18 digits, a point and 18 decimals. */
const DECIMAL_TEXT = /^-?\d{1,18}(\.\d{1,18})?$/;
const INSTANT_TEXT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;
/** IDs, codes and names are short. Longer ones are a mistake or an attack. */
const MAX_WORD_CHARS = 200;
const MAX_MESSAGE_CHARS = 4_000;

interface Rule {
  /** Completes the sentence "must be ...". */
  hint: string;
  holds: (value: unknown) => boolean;
  /** The same rule as a JSON schema, for docs/asyncapi.yaml. */
  schema: object;
}

function rule(name: string, { hint, holds, schema }: Rule) {
  const validator = { validate: holds, defaultMessage: () => `$property must be ${hint}` };
  return (options?: ValidationOptions): PropertyDecorator =>
    ValidateBy({ name, constraints: [schema], validator }, options);
}

/** An exact decimal as text, such as "0.02": amounts and units. */
export const IsDecimalText = rule('isDecimalText', {
  hint: 'a decimal as text, such as "0.02"',
  holds: (value) => typeof value === 'string' && DECIMAL_TEXT.test(value),
  schema: { type: 'string', pattern: DECIMAL_TEXT.source },
});

/** A point in time as ISO 8601 text with its zone. */
export const IsInstant = rule('isInstant', {
  hint: 'a time in ISO 8601 with its zone',
  holds: (value) => typeof value === 'string' && INSTANT_TEXT.test(value) && !Number.isNaN(Date.parse(value)),
  schema: { type: 'string', format: 'date-time' },
});

/** A short, non-empty text: an id, a code or a name. */
export const IsWord = rule('isWord', {
  hint: `a text of 1 to ${MAX_WORD_CHARS} characters`,
  holds: (value) => typeof value === 'string' && value.length > 0 && value.length <= MAX_WORD_CHARS,
  schema: { type: 'string', minLength: 1, maxLength: MAX_WORD_CHARS },
});

/** A non-negative whole number. */
export const IsCount = rule('isCount', {
  hint: 'a whole number that is not negative',
  holds: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  schema: { type: 'integer', minimum: 0 },
});

/** `{ code, message }`: why something was refused or failed. */
export const IsReason = rule('isReason', {
  hint: '{ code, message }',
  holds: isReason,
  schema: {
    type: 'object',
    required: ['code', 'message'],
    properties: {
      code: { type: 'string', maxLength: MAX_WORD_CHARS },
      message: { type: 'string', maxLength: MAX_MESSAGE_CHARS },
    },
  },
});

function isReason(value: unknown): boolean {
  const reason = value as Partial<Record<'code' | 'message', unknown>> | null;
  return (
    typeof reason === 'object' &&
    reason !== null &&
    typeof reason.code === 'string' &&
    typeof reason.message === 'string' &&
    reason.code.length <= MAX_WORD_CHARS &&
    reason.message.length <= MAX_MESSAGE_CHARS
  );
}

const TOKEN_COUNT = /^\d{1,12}$/;
const TOKEN_SCHEMA = { type: 'string', pattern: TOKEN_COUNT.source };

const OPTIONAL_TOKENS = [
  'cacheWrite',
  'cacheWrite1h',
  'imageInput',
  'cachedImageInput',
  'imageOutput',
  'audioInput',
  'cachedAudioInput',
  'audioOutput',
] as const satisfies readonly (keyof Tokens)[];

/** `{ input, cachedInput, output }`, optionally with others: tokens as decimal integers. */
export const IsTokens = rule('isTokens', {
  hint: '{ input, cachedInput, output } as whole numbers in text',
  holds: areTokens,
  schema: {
    type: 'object',
    required: ['input', 'cachedInput', 'output'],
    properties: {
      input: TOKEN_SCHEMA,
      cachedInput: TOKEN_SCHEMA,
      output: TOKEN_SCHEMA,
      ...Object.fromEntries(OPTIONAL_TOKENS.map((name) => [name, TOKEN_SCHEMA])),
    },
  },
});

function areTokens(value: unknown): boolean {
  const tokens = value as Partial<Record<keyof Tokens, unknown>> | null;
  if (typeof tokens !== 'object' || tokens === null) return false;
  const { input, cachedInput, output } = tokens;
  return [input, cachedInput, output, ...OPTIONAL_TOKENS.map((name) => tokens[name] ?? '0')].every(
    (count) => typeof count === 'string' && TOKEN_COUNT.test(count),
  );
}

const MAX_WORDS = 16;

/** Short texts by name, such as `{ "size": "1024x1024" }`. */
export const AreWords = rule('areWords', {
  hint: `an object of at most ${MAX_WORDS} short texts`,
  holds: areWords,
  schema: {
    type: 'object',
    maxProperties: MAX_WORDS,
    additionalProperties: { type: 'string', minLength: 1, maxLength: MAX_WORD_CHARS },
  },
});

function areWords(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const words = Object.values(value);
  return (
    words.length <= MAX_WORDS &&
    words.every((word) => typeof word === 'string' && word.length > 0 && word.length <= MAX_WORD_CHARS)
  );
}
