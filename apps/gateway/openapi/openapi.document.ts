import type { FastifyContextConfig, RouteOptions } from 'fastify';
import { type ErrorCode, errorTable } from '#platform/errors.js';
import { familyOf, type ProtocolFamily } from '../http/protocol-family.js';
import { requestExamples } from './examples.js';
import type { Content, Operation, Schema } from './operation.js';
import { ERROR_SCHEMAS, HEADERS, INFO, SECURITY_SCHEMES } from './openapi.common.js';

/** An OpenAPI 3.1 document, as far as its readers here need it. */
export interface GatewayDocument {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  tags: { name: string }[];
  paths: Record<string, Record<string, DocumentedOperation>>;
  components: Record<string, Record<string, unknown>>;
}

export interface DocumentedOperation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security: Record<string, string[]>[];
  parameters: Parameter[];
  requestBody?: { required: true; content: MediaTypes };
  responses: Record<string, DocumentedResponse>;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  example?: string;
  schema: Schema;
}

interface DocumentedResponse {
  description: string;
  headers: Record<string, { $ref: string }>;
  content?: MediaTypes;
}

type MediaTypes = Record<string, { schema?: Schema; example?: unknown }>;
type Rules = Pick<FastifyContextConfig, 'access' | 'bodyLimit' | 'multipart' | 'paid' | 'doc'>;

interface Route {
  method: string;
  url: string;
  rules: Rules;
}

/** Refusals that the hooks before the handlers and the readers of bodies make, whatever the path. */
const ALWAYS: readonly ErrorCode[] = ['unknown_host', 'internal_error', 'service_unavailable'];
const OF_BODIES: readonly ErrorCode[] = [
  'invalid_json',
  'invalid_type',
  'invalid_value',
  'invalid_request',
  'missing_required_parameter',
  'request_too_large',
  'upload_too_slow',
  'unsupported_media_type',
];
const OF_CHARGES: readonly ErrorCode[] = [
  'model_not_found',
  'model_not_allowed',
  'group_not_granted',
  'model_not_supported_here',
  'insufficient_user_quota',
  'key_limit_exceeded',
  'account_limit_exceeded',
  'account_frozen',
  'rate_limit_exceeded',
  'idempotency_key_reused',
  'idempotency_outcome_unknown',
  'content_policy_violation',
  'upstream_rejected',
  'generation_failed',
];
/** Upstream statuses that are passed on under their code. */
const UPSTREAMS_OWN = [415, 422];

/** The routes of the server as they were registered, described by their own rules and by what is declared with them. */
export class ApiDocument {
  private readonly routes: Route[] = [];
  private document: Omit<GatewayDocument, 'servers'> | undefined;

  /** For Fastify's onRoute hook. A HEAD follows from its GET. */
  add({ method, url, config = {} }: RouteOptions): void {
    for (const each of [method].flat()) {
      if (each !== 'HEAD') this.routes.push({ method: each.toLowerCase(), url, rules: config });
    }
  }

  /** `origin`: scheme and host that the reader reaches us under. */
  at(origin: string): GatewayDocument {
    this.document ??= this.build();
    const { openapi, info, ...rest } = this.document;
    return { openapi, info, servers: [{ url: origin }], ...rest };
  }

  private build(): Omit<GatewayDocument, 'servers'> {
    const paths: GatewayDocument['paths'] = {};
    const tags = new Set<string>();
    for (const route of this.routes) {
      for (const operation of [route.rules.doc ?? []].flat()) {
        const path = pathOf(route.url, operation);
        const rules = operation.free ? { ...route.rules, paid: false } : route.rules;
        (paths[path] ??= {})[route.method] = describe({ ...route, rules }, path, operation);
        tags.add(operation.tag);
      }
    }
    return {
      openapi: '3.1.0',
      info: INFO,
      tags: [...tags].map((name) => ({ name })),
      paths,
      components: { schemas: ERROR_SCHEMAS, securitySchemes: SECURITY_SCHEMES, headers: HEADERS },
    };
  }
}

/** `/v1/videos/:id` as `/v1/videos/{id}`. */
function pathOf(url: string, { ending }: Operation): string {
  const path = url.replace(/:(\w+)/g, '{$1}');
  return ending === undefined ? path : path.replace(/[^/]+$/, () => ending);
}

function describe({ method, url, rules }: Route, path: string, operation: Operation): DocumentedOperation {
  const { id, tag, summary, description, body } = operation;
  const family = familyOf({ url, headers: {}, is404: false });
  const limit = rules.bodyLimit === undefined ? '' : `The maximum body size is ${rules.bodyLimit} bytes.`;
  const words = [description, limit].filter(Boolean).join(' ');
  return {
    operationId: path.startsWith('/vendora/') ? `${id}AtVendora` : id,
    tags: [tag],
    summary,
    ...(words === '' ? {} : { description: words }),
    security: securityOf(path, family, { rules, operation }),
    parameters: parametersOf(path, rules, operation),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: withExample(id, mediaTypes(bodyOf(body, rules))) } }),
    responses: { ...answersOf(operation), ...refusalsOf(operation, { method, path, family, rules }) },
  };
}

/** A form has the fields of the JSON, unless it is described on its own. */
function bodyOf(body: Content, { multipart }: Rules): Content {
  const json = body['application/json'];
  return multipart && json !== undefined ? { 'multipart/form-data': json, ...body } : body;
}

/** Of the JSON, or of the form if there is no JSON. */
function withExample(id: string, content: MediaTypes): MediaTypes {
  const example = requestExamples[id]?.body;
  const type = content['application/json'] ? 'application/json' : 'multipart/form-data';
  return example === undefined ? content : { ...content, [type]: { ...content[type], example } };
}

function securityOf(
  path: string,
  family: ProtocolFamily,
  { rules: { access = 'key' }, operation }: { rules: Rules; operation: Operation },
): Record<string, string[]>[] {
  const names = needsKey(access) ? ['key'] : [];
  if (family === 'google') names.push('googleKey', 'googleQueryKey');
  if (family === 'anthropic' || isOfTwoFamilies(path)) names.push('anthropicKey');
  if (operation.query?.['sig']) names.push('signature');
  return names.map((name) => ({ [name]: [] }));
}

function needsKey(access: Rules['access']): boolean {
  return access !== 'open' && access !== 'vendor';
}

const IDEMPOTENCY_KEY: Readonly<Record<string, Schema>> = {
  'idempotency-key': {
    type: 'string',
    maxLength: 255,
    description:
      'The first request with a key is processed and charged. Repeating the same request returns the same answer.',
  },
};

function parametersOf(path: string, { paid }: Rules, operation: Operation): Parameter[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string);
  const examples = requestExamples[operation.id]?.path ?? {};
  return [
    ...names.map((name) => {
      const parameter = parameterOf(name, 'path', { type: 'string', description: operation.path?.[name] });
      return name in examples ? { ...parameter, example: examples[name] } : parameter;
    }),
    ...optionalParameters('query', operation.query),
    ...optionalParameters('header', { ...operation.headers, ...(paid ? IDEMPOTENCY_KEY : {}) }),
  ];
}

function optionalParameters(
  where: Parameter['in'],
  fields: Readonly<Record<string, Schema>> = {},
): Parameter[] {
  return Object.entries(fields).map(([name, schema]) => parameterOf(name, where, schema));
}

function parameterOf(name: string, where: Parameter['in'], { description, ...schema }: Schema): Parameter {
  return {
    name,
    in: where,
    required: where === 'path',
    ...(description === undefined ? {} : { description }),
    schema,
  };
}

function answersOf({ answers }: Operation): Record<string, DocumentedResponse> {
  return Object.fromEntries(
    Object.entries(answers).map(([status, { description, content }]) => [
      status,
      {
        description,
        headers: headersOf(),
        ...(content === undefined ? {} : { content: mediaTypes(content) }),
      },
    ]),
  );
}

function refusalsOf(
  operation: Operation,
  { method, path, family, rules }: { method: string; path: string; family: ProtocolFamily; rules: Rules },
): Record<string, DocumentedResponse> {
  const { paid } = rules;
  const byStatus = new Map<number, Set<ErrorCode>>();
  const put = (status: number, code: ErrorCode) =>
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code));
  for (const code of codesOf(operation, method, rules)) put(errorTable[code].status, code);
  if (paid) for (const status of UPSTREAMS_OWN) put(status, 'upstream_rejected');
  const content = mediaTypes({ 'application/json': errorSchema(path, family) });
  return Object.fromEntries(
    [...byStatus].map(([status, each]) => [
      String(status),
      { description: [...each].map((code) => `\`${code}\``).join(', '), headers: headersOf(status), content },
    ]),
  );
}

function codesOf(
  operation: Operation,
  method: string,
  { access, paid, multipart }: Rules,
): readonly ErrorCode[] {
  return [
    ...ALWAYS,
    ...(needsKey(access) ? (['invalid_api_key', 'ip_not_allowed'] as const) : []),
    ...(access === 'open' || access === 'signed' ? (['rate_limit_exceeded'] as const) : []),
    ...(method === 'post' ? OF_BODIES : []),
    ...(multipart ? (['invalid_multipart'] as const) : []),
    ...(paid ? OF_CHARGES : []),
    ...(operation.refusals ?? []),
  ];
}

function errorSchema(path: string, family: ProtocolFamily): Schema {
  const named = (name: keyof typeof ERROR_SCHEMAS) => ({ $ref: `#/components/schemas/${name}` });
  if (isOfTwoFamilies(path)) return { anyOf: [named('Error'), named('AnthropicError')] };
  return named(({ openai: 'Error', google: 'GoogleError', anthropic: 'AnthropicError' } as const)[family]);
}

/** An address where the version header decides which family is meant. */
function isOfTwoFamilies(path: string): boolean {
  const plain = familyOf({ url: path, headers: {}, is404: false });
  return plain !== familyOf({ url: path, headers: { 'anthropic-version': '' }, is404: false });
}

function headersOf(status?: number): DocumentedResponse['headers'] {
  const repeated = status === 429 || status === 503 ? (['retry-after'] as const) : [];
  const names = ['x-request-id', ...repeated] as const;
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function mediaTypes(content: Content): MediaTypes {
  return Object.fromEntries(
    Object.entries(content).map(([type, schema]) => [type, schema === null ? {} : { schema }]),
  );
}
