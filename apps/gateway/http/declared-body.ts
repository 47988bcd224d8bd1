import { request, type Schema, schema } from '../openapi/operation.js';
import {
  type Body,
  type Bounds,
  invalid,
  optionalBoolean,
  optionalString,
  optionalWhole,
  optionalWord,
  requiredString,
} from './fields.js';
import { MAX_MODEL_CHARS, MAX_PROMPT_CHARS, MAX_SHAPE_CHARS } from './limits.js';

/** A field of a body or query: how it is read, and how the API reference describes it. */
export interface DeclaredField<T> {
  readonly schema: Schema;
  /** @throws ApiError naming the field */
  readonly read: (body: Body, param: string) => T;
}

type Fields = Readonly<Record<string, DeclaredField<unknown>>>;

/** The fields of a body, declared once: their names, a reader for each, and their schema. */
export function declareBody<Required extends Fields, Optional extends Fields>(
  required: Required,
  optional: Optional,
) {
  const fields = { ...required, ...optional };
  return {
    names: Object.keys(fields),
    read: readersOf<Required & Optional>(fields),
    /** @param others optional fields that are read elsewhere, or described differently */
    schema: (others: Readonly<Record<string, Schema>> = {}): Schema =>
      request(schemasOf(required), { ...schemasOf(optional), ...others }),
  };
}

/** The fields of a query string, all optional. */
export function declareQuery<F extends Fields>(fields: F) {
  return { read: readersOf(fields), schemas: schemasOf(fields) };
}

function readersOf<F extends Fields>(fields: F) {
  const readers = Object.entries(fields).map(([name, field]) => [
    name,
    (body: Body) => field.read(body, name),
  ]);
  return Object.fromEntries(readers) as {
    readonly [Name in keyof F]: (body: Body) => ReturnType<F[Name]['read']>;
  };
}

export function schemasOf(fields: Fields): Record<string, Schema> {
  return Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]));
}

export const fieldOf = {
  text: (maxLength: number, description?: string): DeclaredField<string | undefined> => ({
    schema: schema.text(description, { maxLength }),
    read: (body, param) => optionalString(body, param, maxLength),
  }),
  word: <const T extends string>(
    words: readonly T[],
    description?: string,
  ): DeclaredField<T | undefined> => ({
    schema: schema.words(words, description),
    read: (body, param) => optionalWord(body, param, words),
  }),
  whole: (bounds: Bounds, description?: string): DeclaredField<number | undefined> => ({
    schema: schema.integer(description, bounds),
    read: (body, param) => optionalWhole(body, param, bounds),
  }),
  flag: (description: string): DeclaredField<boolean | undefined> => ({
    schema: schema.flag(description),
    read: optionalBoolean,
  }),
  /** Read by the reader of the body, in its own way. */
  own: (schema: Schema): DeclaredField<unknown> => ({ schema, read: (body, param) => body[param] }),
};

export const MODEL: DeclaredField<string> = {
  schema: schema.text(undefined, { maxLength: MAX_MODEL_CHARS }),
  read: (body, param) => requiredString(body, param, MAX_MODEL_CHARS),
};

export const PROMPT: DeclaredField<string> = {
  schema: schema.text(undefined, { minLength: 1, maxLength: MAX_PROMPT_CHARS }),
  read: (body, param) => requiredString(body, param, MAX_PROMPT_CHARS),
};

/** Larger images than any upstream makes; the bound keeps a typing error from reaching one. */
const MAX_SIDE_PIXELS = 4096;
const MIN_SIDE_PIXELS = 64;

/** Undefined for `auto` and when absent. */
export const SIZE: DeclaredField<string | undefined> = {
  schema: schema.text('`<width>x<height>` in pixels, or `auto`.'),
  read(body, param) {
    const asked = optionalString(body, param, MAX_SHAPE_CHARS);
    if (asked === undefined || asked === 'auto') return undefined;
    const match = /^(\d{1,5})x(\d{1,5})$/.exec(asked);
    const width = Number(match?.[1]);
    const height = Number(match?.[2]);
    if (Math.min(width, height) >= MIN_SIDE_PIXELS && Math.max(width, height) <= MAX_SIDE_PIXELS)
      return `${width}x${height}`;
    const range = `each side from ${MIN_SIDE_PIXELS} to ${MAX_SIDE_PIXELS} pixels`;
    throw invalid(param, `must be <width>x<height>, ${range}, such as 1024x1024`);
  },
};

/** Passed on to the upstream; undefined for `auto` and when absent. */
export const ASPECT_RATIO: DeclaredField<string | undefined> = {
  schema: schema.text('Such as `16:9`, or `auto`.'),
  read(body, param) {
    const asked = optionalString(body, param, MAX_SHAPE_CHARS);
    if (asked === undefined || asked === 'auto') return undefined;
    if (!/^[1-9]\d{0,4}:[1-9]\d{0,4}$/.test(asked)) throw invalid(param, 'must look like 16:9');
    return asked;
  },
};
