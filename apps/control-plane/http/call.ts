import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { z } from 'zod';
import { ApiError } from '#platform/errors.js';
import type { CallSession } from './call-session.js';
import type { Route } from './declared-route.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard of the control plane. */
    session?: CallSession | null;
    /** Set by the guard after it. */
    database?: pg.Pool;
  }
}

/** What a handler gets: the request, checked and typed. */
export interface Call<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** Who calls; on public routes a session may still be there. */
  readonly session: CallSession | null;
  readonly requestId: string;
  readonly ip: string;
  readonly request: FastifyRequest;
  /** For headers and cookies; the handler returns the body. */
  readonly reply: FastifyReply;
}

/** The checked request of a route. @throws ApiError that names the wrong field and what is allowed. */
export const CallInput = createParamDecorator((declared: Route, context: ExecutionContext) => {
  const http = context.switchToHttp();
  return callOf(declared, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
});

function callOf(
  declared: Route,
  request: FastifyRequest,
  reply: FastifyReply,
): Call<unknown, unknown, unknown> & { actor?: CallSession['actor']; database?: pg.Pool } {
  const { session = null, database } = request;
  return {
    params: readParams(declared.params, request.params),
    query: check(declared.query, request.query ?? {}),
    body: declared.body === null ? undefined : check(declared.body, bodyOf(declared, request)),
    session,
    ...(session ? { actor: session.actor } : {}),
    ...(database ? { database } : {}),
    requestId: request.id,
    ip: request.ip,
    request,
    reply,
  };
}

/** A malformed ID gets a 404, like an unknown one. */
function readParams(schema: z.ZodType, values: unknown): unknown {
  const result = schema.safeParse(values);
  if (result.success && unstorableText(result.data) === null) return result.data;
  throw new ApiError('not_found', 'There is no such path.');
}

function bodyOf({ consumes }: Route, { body }: FastifyRequest): unknown {
  if (body === undefined || body === null) {
    throw new ApiError('invalid_json', `The body is empty; ${consumes ?? 'a JSON object'} is expected.`);
  }
  return body;
}

function check(schema: z.ZodType, value: unknown): unknown {
  const result = schema.safeParse(value);
  if (!result.success) throw faultOf(result.error.issues[0] as z.core.$ZodIssue, value);
  const param = unstorableText(result.data);
  if (param === null) return result.data;
  throw new ApiError(
    'invalid_value',
    `${param || 'The body'}: must be text without NUL or invalid characters.`,
    {
      param: param || null,
    },
  );
}

/**
 * The path of a text that the database cannot store, because it has a NUL or a lone surrogate. Null: there is none. Without
 * recursion, because values of open schemas can be nested as deeply as the body is long.
 */
function unstorableText(value: unknown): string | null {
  const waiting: [path: string, value: unknown][] = [['', value]];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [path, each] = next;
    if (typeof each === 'string' && (each.includes('\u0000') || !each.isWellFormed())) return path;
    if (!Array.isArray(each) && !isPlainObject(each)) continue;
    for (const [name, inner] of Object.entries(each))
      waiting.push([path === '' ? name : `${path}.${name}`, inner]);
  }
  return null;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function faultOf(issue: z.core.$ZodIssue, value: unknown): ApiError {
  const path = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    const param = [...issue.path, issue.keys[0]].map(String).join('.');
    return new ApiError('invalid_value', `${param} is not a field of this request.`, { param });
  }
  const isMissing = issue.path.length > 0 && at(value, issue.path) === undefined;
  if (isMissing) return new ApiError('missing_required_parameter', `${path} is required.`, { param: path });
  const code = issue.code === 'invalid_type' ? 'invalid_type' : 'invalid_value';
  const subject = path === '' ? 'The body' : path;
  return new ApiError(code, `${subject}: ${sentence(issue.message)}`, { param: path || null });
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key],
    value,
  );
}

function sentence(message: string): string {
  const text = message.replace(/^Invalid input: /, '');
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
