import {
  applyDecorators,
  createParamDecorator,
  type ExecutionContext,
  HttpCode,
  Post,
  Res,
} from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify';
import { isInRanges } from '#identity/ip-list.js';
import { type Caller, type KeyAuthenticator } from '#identity/key-authenticator.js';
import { ApiError } from '#platform/errors.js';
import type { FailedKeys } from '../protection/failed-keys.js';
import type { Operation } from '../openapi/operation.js';
import type { FormLimits } from './multipart-body.js';
import { keyBesideAuthorization } from './protocol-family.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller, on every route that requires a key. */
    caller: Caller | null;
  }
  interface FastifyContextConfig {
    /**
     * `key` (default): an API key. `signed`: a key or a signed URL. `open`: the route checks for itself. `vendor`: so too, and
     * a bad signature counts as a failed key.
     */
    access?: 'key' | 'signed' | 'open' | 'vendor';
    /** The largest body, in bytes. */
    bodyLimit?: number;
    /** The same without its long texts, which are images. */
    plainLimit?: number;
    /** The route reads multipart bodies as well as JSON, within these limits. */
    multipart?: FormLimits;
    /**
     * The route costs money: an Idempotency-Key is honoured, and requests per minute are counted. The default for every POST.
     */
    paid?: boolean;
    /** It costs nothing, but counts against the requests per minute because it queries the database or an upstream. */
    counted?: boolean;
    /** The route in the OpenAPI document. If its last segment contains a verb, one entry per verb. */
    doc?: Operation | readonly Operation[];
  }
}

type Rules = Pick<
  FastifyContextConfig,
  'access' | 'bodyLimit' | 'plainLimit' | 'multipart' | 'keepsBytes' | 'paid' | 'counted' | 'doc'
>;

/** The rules of a route that apply before its handler runs. */
export const RouteRules = (rules: Rules) => RouteConfig(rules);

/** A POST that is answered with 200, completely or as a stream. */
export const AnsweredPost = (path: string | string[], rules: Rules) =>
  applyDecorators(Post(path), HttpCode(200), RouteRules(rules));

/** A request, and where its answer goes. */
export interface ClientExchange {
  readonly caller: Caller;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** The caller of a route that requires a key. */
export const CallerOf = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  return exchangeOf(context).caller;
});

const Exchange = createParamDecorator((_: unknown, context: ExecutionContext) => exchangeOf(context));

/** The caller with the request and the reply. A handler returns its answer, or sends it by itself. */
export function ExchangeOf(answer: 'returns' | 'sends'): ParameterDecorator {
  return (target, property, index) => {
    Exchange()(target, property, index);
    // Nest sends nothing for a handler that takes the reply from it.
    if (answer === 'sends') Res()(target, property, index + 1);
  };
}

function exchangeOf(context: ExecutionContext): ClientExchange {
  const http = context.switchToHttp();
  const [request, reply] = [http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>()];
  const { caller } = request;
  if (!caller) throw new ApiError('invalid_api_key', 'This path requires an API key.');
  return { caller, request, reply };
}

/** Identifies the caller before any byte of the body is read. A signed URL needs no key. */
export function authenticationHook(keys: KeyAuthenticator, failed: FailedKeys) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (request.is404) return;
    const { access, paid } = request.routeOptions.config;
    if (access === 'open') return;
    if (access === 'vendor') return failed.refuseBeyond(request.ip);
    const { authorization } = request.headers;
    const other = authorization === undefined ? keyBesideAuthorization(request) : undefined;
    if (access === 'signed' && authorization === undefined && other === undefined) return;
    const sent = authorization ?? other ?? '';
    if (!keys.isCheap(sent)) failed.refuseBeyond(request.ip);
    const caller = await (
      other === undefined
        ? keys.authenticate(authorization, access === 'signed' ? 'file' : 'call')
        : keys.authenticateKey(other)
    ).catch((error: unknown) => {
      if (error instanceof ApiError && !keys.isCheap(sent)) failed.note(request.ip);
      throw error;
    });
    // The console calls on behalf of a person and passes on their IP address, which is checked against the key's list.
    const { clientIp = request.ip } = caller;
    refuseOtherAddresses(caller, clientIp);
    request.caller = { ...caller, clientIp, ...(paid && { left: leavingOf(reply) }) };
  };
}

/** Aborted when the connection closes before the answer was written. */
function leavingOf({ raw }: FastifyReply): AbortSignal {
  const leaving = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) leaving.abort();
  });
  return leaving.signal;
}

/** Early, for what costs nothing and reaches no hold; a hold decides it again by the key as it is then. */
function refuseOtherAddresses({ allowedIps }: Caller, ip: string): void {
  if (allowedIps && !isInRanges(allowedIps, ip))
    throw new ApiError('ip_not_allowed', 'The API key cannot be used from this IP address.');
}
