import 'reflect-metadata';
import { z } from 'zod';
import { type ErrorCode, errorTable } from '#platform/errors.js';
import { ROUTE, type Route } from './declared-route.js';
import { AS_OF } from './reports-database.js';

/** An OpenAPI 3.1 document, as far as its readers here need it. */
export interface ControlPlaneDocument {
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
  /** The roles, one of which is needed; `public` for everyone. */
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

export function routesOf(prototype: object): Route[] {
  return Object.getOwnPropertyNames(prototype).flatMap((name) => {
    const handler = (prototype as Record<string, unknown>)[name];
    if (typeof handler !== 'function') return [];
    const route = Reflect.getMetadata(ROUTE, handler) as Route | undefined;
    return route === undefined ? [] : [route];
  });
}

export function describeApi(routes: readonly Route[], cookieName: string): ControlPlaneDocument {
  const paths: ControlPlaneDocument['paths'] = {};
  const shapes = new NamedShapes();
  const inOrder = [...routes].sort((a, b) => (`${a.path} ${a.method}` < `${b.path} ${b.method}` ? -1 : 1));
  for (const each of inOrder) (paths[each.path] ??= {})[each.method.toLowerCase()] = describe(each, shapes);
  const tags = [...new Set(routes.map(({ tag }) => tag))].sort();
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tollgate control plane',
      version: '1',
      description:
        "Accounts, keys, money, prices and support: the API behind the console. Sessions use a cookie; requests that change something must also send the session's `csrfToken` in the header `x-csrf-token`. Amounts are decimal strings.",
    },
    tags: tags.map((name) => ({ name })),
    paths,
    components: {
      schemas: { Error: shapes.of(ERROR, 'output'), ...shapes.named() },
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

function describe(route: Route, shapes: NamedShapes): DocumentedRoute {
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
    ...bodyOf(route, shapes),
    responses: { [route.status]: answerOf(route, shapes), ...refusalsOf(route) },
  };
}

function securityOf({ access, method, guardsAgainstForgery }: Route): Record<string, string[]>[] {
  if (access === 'public') return [];
  return [{ session: [], ...(method === 'GET' || !guardsAgainstForgery ? {} : { csrfToken: [] }) }];
}

function parametersOf(route: Route, where: 'path' | 'query'): DocumentedRoute['parameters'] {
  const schema = new NamedShapes().of(where === 'path' ? route.params : route.query, 'input') as {
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

function bodyOf({ body, consumes }: Route, shapes: NamedShapes): Pick<DocumentedRoute, 'requestBody'> {
  if (body === null) return {};
  const content = { [consumes ?? 'application/json']: { schema: shapes.of(body, 'input') } };
  return { requestBody: { required: true, content } };
}

const AS_OF_HEADER = {
  [AS_OF]: {
    description:
      'Present if a read replica answers: the answer includes everything committed before this time.',
    schema: { type: 'string', format: 'date-time' },
  },
};

function answerOf({ answer, produces = [], summary, reads }: Route, shapes: NamedShapes): unknown {
  const json = answer === null ? {} : { 'application/json': { schema: shapes.of(answer, 'output') } };
  // JSON that is passed on has the shape that its own program describes.
  const schemaOf = (type: string) => (type === 'application/json' ? {} : { type: 'string' });
  const other = Object.fromEntries(produces.map((type) => [type, { schema: schemaOf(type) }]));
  const content = { ...json, ...other };
  return {
    description: summary,
    ...(reads === 'reports' ? { headers: AS_OF_HEADER } : {}),
    ...(Object.keys(content).length === 0 ? {} : { content }),
  };
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

/** Shapes that have an `id` are described once, as a component, wherever they occur. */
class NamedShapes {
  private readonly found = new Map<string, unknown>();

  /** @throws Error for a name that means two things */
  of(schema: z.ZodType, io: 'input' | 'output'): unknown {
    const { whole, parts } = described[io].get(schema) ?? shapeOf(schema, io);
    described[io].set(schema, { whole, parts });
    for (const [name, shape] of Object.entries(parts)) this.note(name, shape);
    return whole;
  }

  named(): Record<string, unknown> {
    return Object.fromEntries([...this.found].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  private note(name: string, shape: unknown): void {
    const known = this.found.get(name);
    if (known !== undefined && known !== shape && JSON.stringify(known) !== JSON.stringify(shape))
      throw new Error(`The shape ${name} is read and answered in different forms.`);
    this.found.set(name, shape);
  }
}

interface DescribedShape {
  whole: unknown;
  /** The shapes within it that have a name. */
  parts: Record<string, unknown>;
}

/** The schemas of routes never change, so that each is described once for all control planes of a process. */
const described = {
  input: new WeakMap<z.ZodType, DescribedShape>(),
  output: new WeakMap<z.ZodType, DescribedShape>(),
};

function shapeOf(schema: z.ZodType, io: 'input' | 'output'): DescribedShape {
  // A shape within another is named; the outermost would be written out.
  const { properties, $defs = {} } = z.toJSONSchema(z.object({ schema }), { io, unrepresentable: 'any' });
  const parts = Object.fromEntries(
    Object.entries($defs).map(([name, shape]) => [name, componentRefs(shape)]),
  );
  return { whole: componentRefs(properties?.['schema']), parts };
}

function componentRefs(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(componentRefs);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      // Its name in our registry, which says nothing to others.
      .filter(([key, value]) => key !== 'id' || typeof value !== 'string')
      .map(([key, value]) => {
        if (key !== '$ref') return [key, componentRefs(value)];
        return [key, (value as string).replace('#/$defs/', '#/components/schemas/')];
      }),
  );
}
