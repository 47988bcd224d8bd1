import type { ErrorCode } from '#platform/errors.js';

/** JSON Schema of the 2020-12 dialect, as far as the document needs it. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly anyOf?: readonly Schema[];
  readonly contentMediaType?: string;
}

/** A body under each media type that it comes in; null where a schema has nothing to say: bytes. */
export type Content = Readonly<Record<string, Schema | null>>;

/** What a route accepts and returns, as far as it cannot be derived from its rules. */
export interface Operation {
  /** Unique, and what generated clients call their method. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** The last segment of the path, for a route whose parameter holds more than a value: `{model}:predict`. */
  readonly ending?: string;
  /** Free, although its route is paid. */
  readonly free?: true;
  /** Descriptions of the path parameters. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, Schema>>;
  readonly headers?: Readonly<Record<string, Schema>>;
  readonly body?: Content;
  /** Successful answers, by status. */
  readonly answers: Readonly<Record<number, DocumentedAnswer>>;
  /** The refusals of this operation, besides those that its rules bring along. */
  readonly refusals?: readonly ErrorCode[];
}

export interface DocumentedAnswer {
  readonly description: string;
  readonly content?: Content;
}

/** Builds schemas. */
export const schema = {
  text(description?: string, rules: Schema = {}): Schema {
    return { type: 'string', ...(description === undefined ? {} : { description }), ...rules };
  },
  integer(description?: string, rules: Schema = {}): Schema {
    return { type: 'integer', ...(description === undefined ? {} : { description }), ...rules };
  },
  flag: (description: string): Schema => ({ type: 'boolean', description }),
  words: (words: readonly string[], description?: string): Schema =>
    schema.text(description, { enum: words }),
  list: (items: Schema, rules: Pick<Schema, 'minItems' | 'maxItems' | 'description'> = {}): Schema => ({
    type: 'array',
    items,
    ...rules,
  }),
  /** Its named fields are all there, unless named optional; more may come with a later version. */
  object(fields: Readonly<Record<string, Schema>>, optional: readonly string[] = []): Schema {
    const required = Object.keys(fields).filter((name) => !optional.includes(name));
    return { type: 'object', properties: fields, required };
  },
};

/** A body: what it must have, and what it may have or leave null. Known fields that need no words are not listed. */
export function request(
  required: Readonly<Record<string, Schema>>,
  optional: Readonly<Record<string, Schema>> = {},
): Schema {
  const open = Object.entries(optional).map(([name, field]) => [name, nullable(field)] as const);
  return {
    type: 'object',
    properties: { ...required, ...Object.fromEntries(open) },
    required: Object.keys(required),
  };
}

/** The same, or null. */
export function nullable(given: Schema): Schema {
  const { type, enum: words } = given;
  if (type === undefined) return { anyOf: [given, { type: 'null' }] };
  return {
    ...given,
    type: [type, 'null'].flat(),
    ...(words === undefined ? {} : { enum: [...words, null] }),
  };
}

export function json(body: Schema): Content {
  return { 'application/json': body };
}

/** The only successful answer of most operations. */
export function answer(description: string, content: Content): { 200: DocumentedAnswer } {
  return { 200: { description, content } };
}

export function jsonAnswer(description: string, body: Schema): { 200: DocumentedAnswer } {
  return answer(description, json(body));
}

/** A signed address, or the key's owner: what both ask for beyond the key. */
export const SIGNATURE = {
  exp: schema.text('The expiry of a link from an answer. With `sig`, it replaces the key.'),
  sig: schema.text(),
};

export const UNIX_SECONDS = schema.integer('Unix time in seconds.');
export const USAGE = schema.object({
  cost_in_usd_ticks: schema.integer('The cost of the call in 1e-10 USD.', { minimum: 0 }),
});

/** How a route that sends a file answers. */
export function fileAnswers(types: readonly string[]): Operation['answers'] {
  const content = Object.fromEntries(types.map((type) => [type, null]));
  return {
    200: { description: 'The file.', content },
    206: { description: 'The bytes requested by `Range`.', content },
    304: { description: 'The file matches `If-None-Match`.' },
  };
}

export const FILE_HEADERS = {
  range: schema.text('One range, such as `bytes=0-1023`.'),
  'if-none-match': schema.text('The `ETag` of a copy.'),
};
