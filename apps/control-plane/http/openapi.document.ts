import { z } from 'zod';
import { type ErrorCode, errorTable } from '#platform/errors.js';
import type { Route } from './declared-route.js';

/** An OpenAPI 3.1 document, as far as its readers here need it. */
export interface OpenApiDocument {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string };
  tags: { name: string }[];
  paths: Record<string, Record<string, DocumentedRoute>>;
  components: Record<string, Record<string, unknown>>;
}

export interface DocumentedRoute {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  /** The roles of which one is needed; `public` for everybody. */
  'x-access': 'public' | readonly string[];
  /** Only for a session that was confirmed a moment ago. */
  'x-confirms'?: true;
  security: Record<string, string[]>[];
  parameters: { name: string; in: 'path' | 'query' | 'header'; required: boolean; schema: unknown }[];
  requestBody?: { required: true; content: Record<string, { schema: unknown }> };
  responses: Record<string, unknown>;
}

const ALWAYS: readonly ErrorCode[] = ['internal_error', 'rate_limit_exceeded', 'service_unavailable'];
const OF_SESSIONS: readonly ErrorCode[] = ['not_signed_in', 'forbidden'];
const OF_BODIES: readonly ErrorCode[] = [
  'invalid_json',
  'invalid_type',
  'invalid_value',
  'missing_required_parameter',
  'request_too_large',
  'upload_too_slow',
  'unsupported_media_type',
];

/** Describes the control plane by its routes. */
export function describeApi(routes: readonly Route[], cookieName: string): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {};
  for (const each of routes) (paths[each.path] ??= {})[each.method.toLowerCase()] = describe(each);
  const tags = [...new Set(routes.map(({ tag }) => tag))].sort();
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tollgate control plane',
      version: '1',
      description:
        'Accounts, keys, money, prices and support, behind the console. A session is a cookie; what changes something ' +
        'also carries its `csrfToken` as the header `x-csrf-token`. Amounts are decimal strings.',
    },
    tags: tags.map((name) => ({ name })),
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      schemas: { Error: schemaOf(ERROR, 'output') },
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: cookieName },
        csrfToken: { type: 'apiKey', in: 'header', name: 'x-csrf-token' },
      },
    },
  };
}

const ERROR = z.object({
  error: z.object({
    message: z.string(),
    type: z.string(),
    param: z.string().nullable(),
    code: z.enum(Object.keys(errorTable) as [string, ...string[]]),
  }),
});

function describe(route: Route): DocumentedRoute {
  const { id, tag, summary, description, access } = route;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    'x-access': access,
    ...(route.confirms ? { 'x-confirms': true } : {}),
    security: securityOf(route),
    parameters: [...parametersOf(route, 'path'), ...parametersOf(route, 'query')],
    ...bodyOf(route),
    responses: { [route.status]: answerOf(route), ...refusalsOf(route) },
  };
}

function securityOf({ access, method, guardsAgainstForgery }: Route): Record<string, string[]>[] {
  if (access === 'public') return [];
  return [{ session: [], ...(method === 'GET' || !guardsAgainstForgery ? {} : { csrfToken: [] }) }];
}

function parametersOf(route: Route, where: 'path' | 'query'): DocumentedRoute['parameters'] {
  const schema = schemaOf(where === 'path' ? route.params : route.query, 'input') as {
    properties?: Record<string, unknown>;
    required?: string[];
  };
  return Object.entries(schema.properties ?? {}).map(([name, each]) => ({
    name,
    in: where,
    required: where === 'path' || (schema.required ?? []).includes(name),
    schema: each,
  }));
}

function bodyOf({ body, consumes }: Route): Pick<DocumentedRoute, 'requestBody'> {
  if (body === null) return {};
  const content = { [consumes ?? 'application/json']: { schema: schemaOf(body, 'input') } };
  return { requestBody: { required: true, content } };
}

function answerOf({ answer, produces = [], summary }: Route): unknown {
  const json = answer === null ? {} : { 'application/json': { schema: schemaOf(answer, 'output') } };
  const other = Object.fromEntries(produces.map((type) => [type, { schema: { type: 'string' } }]));
  const content = { ...json, ...other };
  return { description: summary, ...(Object.keys(content).length === 0 ? {} : { content }) };
}

function refusalsOf(route: Route): Record<string, unknown> {
  const { access, refusals, body, query, method, params, guardsAgainstForgery } = route;
  const codes = new Set<ErrorCode>([...ALWAYS, ...refusals]);
  if (access !== 'public') OF_SESSIONS.forEach((code) => codes.add(code));
  if (access !== 'public' && !route.beforeSecondFactor) codes.add('second_factor_required');
  if (route.confirms) codes.add('confirmation_required');
  if (method !== 'GET' && guardsAgainstForgery) codes.add('csrf_rejected');
  if (body !== null) OF_BODIES.forEach((code) => codes.add(code));
  if (Object.keys(query.shape).length > 0) codes.add('invalid_value').add('invalid_type');
  if (Object.keys(params.shape).length > 0) codes.add('not_found');
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = errorTable[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, words]) => [
      status,
      {
        description: words.map((code) => `\`${code}\``).join(', '),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    ]),
  );
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): unknown {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}
