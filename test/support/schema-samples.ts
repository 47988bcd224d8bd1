/** The part of JSON Schema that our documents use. */
export interface SampledSchema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  examples?: unknown[];
  default?: unknown;
  pattern?: string;
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  exclusiveMinimum?: number;
  minItems?: number;
  items?: SampledSchema;
  properties?: Record<string, SampledSchema>;
  required?: string[];
  anyOf?: SampledSchema[];
  oneOf?: SampledSchema[];
  allOf?: SampledSchema[];
}

/**
 * Sample texts for fields: the first one that the schema allows is used. They are fixed, because the API pages show
 * them.
 */
const TEXTS = [
  '01k4w2m9x7b3c5d8e6f1g0h2j4',
  'sample-text',
  '0.5',
  '12.50',
  'somebody@example.com',
  'https://example.com/hooks',
  '127.0.0.1',
  '2030-01-01T00:00:00Z',
  '2030-01-01',
  '123456',
  '1',
  'USD',
  '1.3',
  '10.0.0.0/8',
  'vendora-chat',
  'S',
  'a-b',
  '16:9',
  '1024x1024',
  'YYYY-MM-DD',
  // The token from a mail.
  'sample-token-of-forty-three-characters-0123',
];

/** A minimal value that a schema allows. @throws Error if none is known */
export function sampleOf(schema: SampledSchema, where = 'the value'): unknown {
  const choice = schema.anyOf ?? schema.oneOf;
  if (choice) return sampleOf(choice.find(({ type }) => type !== 'null') ?? {}, where);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.examples?.length) return schema.examples[0];
  if (schema.allOf)
    return Object.assign({}, ...schema.allOf.map((each) => sampleOf(each, where) as object)) as object;
  switch (typeOf(schema)) {
    case 'object':
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [
          name,
          sampleOf(schema.properties?.[name] ?? {}, `${where}.${name}`),
        ]),
      );
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sampleOf(schema.items ?? {}, `${where}[]`));
    case 'string':
      return textOf(schema, where);
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 1, (schema.exclusiveMinimum ?? 0) + 1);
    case 'boolean':
      return true;
    default:
      return 'anything';
  }
}

export function typeOf({ type }: SampledSchema): string | undefined {
  return Array.isArray(type) ? type.find((each) => each !== 'null') : type;
}

function textOf(schema: SampledSchema, where: string): string {
  const { pattern, minLength = 0, maxLength = Infinity, format } = schema;
  const fits = (text: string) =>
    text.length >= minLength && text.length <= maxLength && (!pattern || new RegExp(pattern, 'u').test(text));
  const byFormat: Record<string, string> = {
    'date-time': '2030-01-01T00:00:00Z',
    email: 'somebody@example.com',
    uri: 'https://example.com/hooks',
    date: '2030-01-01',
  };
  const candidates = [
    ...(format && byFormat[format] ? [byFormat[format]] : []),
    ...TEXTS,
    'x'.repeat(minLength),
  ];
  const found = candidates.find(fits);
  if (found !== undefined && found !== '') return found;
  throw new Error(`${where}: no sample fits ${JSON.stringify(schema)}; give it an example`);
}
