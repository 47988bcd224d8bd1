import { RouteConfig } from '@nestjs/platform-fastify';
import {
  applyDecorators,
  HttpCode,
  RequestMapping,
  RequestMethod,
  SetMetadata,
  UseGuards,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Actor, Role } from '#identity/role.js';
import type { AccountView } from '#identity/session.store.js';
import type { ErrorCode } from '#platform/errors.js';
import type { SecondFactorState } from '#identity/second-factor.js';
import { AccessGuard } from './access.guard.js';
import { CallInput } from './call.js';
import type { Load } from './heavy-work.js';

/** Who may call: anybody, or people with one of the roles. An administrator is no user of finance by being one. */
export type Access = 'public' | readonly Role[];

/**
 * What a route does while the session looks at somebody else's account: `theirs` answers for that account, `own` for the
 * session itself as always, and the rest is refused.
 */
export type UnderView = 'theirs' | 'own' | 'refused';

type Fields = z.ZodObject;

/**
 * One address of the control plane, declared once: the server, its checks, the OpenAPI document and the generated client
 * all follow from it. Objects of the request are strict, so that a misspelt field is refused and not ignored.
 */
export interface Route<
  P extends Fields = Fields,
  Q extends Fields = Fields,
  B extends z.ZodType | null = z.ZodType | null,
  A extends z.ZodType | null = z.ZodType | null,
> {
  /** Unique; what generated clients call it. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Such as `/api/tickets/{ticketId}`. */
  readonly path: `/${string}`;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  readonly params: P;
  readonly query: Q;
  /** The JSON body; null: none is read. */
  readonly body: B;
  /** The media type of a body that is not JSON; `body` is then a string. */
  readonly consumes?: string;
  /** The body is neither read nor checked: the handler gets it as a stream, of whatever media type, and of so many bytes at most. */
  readonly streamsBody?: number;
  /** The handler needs the bytes of the body as they came too: `request.sentBytes`. */
  readonly keepsBytes?: boolean;
  /** The answer of success as JSON; null: nothing, or `produces`. */
  readonly answer: A;
  /** The media types of an answer that is not JSON; the handler answers text or a stream. */
  readonly produces?: readonly string[];
  readonly status: number;
  /** Refusals of this route, besides those that every route has. */
  readonly refusals: readonly ErrorCode[];
  /** False for what a machine calls and proves otherwise, such as a payment provider. */
  readonly guardsAgainstForgery: boolean;
  readonly underView: UnderView;
  /** What is not light has its turn by account, so that nobody takes all of the database's time. */
  readonly load: Load;
  /** Only for a session that proved a moment ago, by a code or the password, that it is its person who sits there. */
  readonly confirms: boolean;
  /** Staff who have yet to set up their second factor reach it too. */
  readonly beforeSecondFactor: boolean;
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

export interface CallSession {
  /** While it looks at another account, that account's id stands in the actor of routes that answer for it. */
  readonly actor: Actor;
  readonly csrfToken: string;
  /** Whose account it looks at, if not its own. */
  readonly view: AccountView | null;
  /** Its person proved a moment ago that it is them. */
  readonly isConfirmed: boolean;
  readonly secondFactor: SecondFactorState;
}

/** Where somebody of a role calls, there is a session. */
type SignedIn<C> = Omit<C, 'session'> & { readonly session: CallSession; readonly actor: Actor };

export type CallOf<R> =
  R extends Route<infer P, infer Q, infer B, z.ZodType | null>
    ? R extends { access: 'public' }
      ? Call<z.output<P>, z.output<Q>, B extends z.ZodType ? z.output<B> : undefined>
      : SignedIn<Call<z.output<P>, z.output<Q>, B extends z.ZodType ? z.output<B> : undefined>>
    : never;

export type AnswerOf<R> =
  R extends Route<Fields, Fields, z.ZodType | null, infer A>
    ? A extends z.ZodType
      ? z.input<A>
      : unknown
    : never;

type Optional =
  | ('params' | 'query' | 'body' | 'answer' | 'status' | 'refusals')
  | ('guardsAgainstForgery' | 'underView' | 'load' | 'confirms' | 'beforeSecondFactor');

const NO_FIELDS = z.strictObject({});
type NoFields = typeof NO_FIELDS;

/** What everybody has of their own can be looked at, and nothing else. */
function viewOf({ access, method }: Pick<Route, 'access' | 'method'>): UnderView {
  if (access === 'public') return 'own';
  return method === 'GET' && access.includes('user') ? 'theirs' : 'refused';
}

/** Files of rows are as long as there are rows, and what finance reads goes over everybody's. */
function loadOf({ method, path, produces = [] }: Pick<Route, 'method' | 'path' | 'produces'>): Load {
  if (method !== 'GET') return 'light';
  if (produces.includes('text/csv')) return 'file';
  return path.startsWith('/api/finance/') ? 'query' : 'light';
}

/** Declares a route; what is left out is: no parameters, no body, status 200 with an answer and 204 without. */
export function route<
  const X extends Access,
  P extends Fields = NoFields,
  Q extends Fields = NoFields,
  B extends z.ZodType | null = null,
  A extends z.ZodType | null = null,
>(
  spec: Omit<Route<P, Q, B, A>, Optional | 'access'> & { access: X } & Partial<
      Pick<Route<P, Q, B, A>, Optional>
    >,
): Route<P, Q, B, A> & { access: X } {
  const hasAnswer = spec.answer != null || spec.produces !== undefined;
  return {
    ...spec,
    params: spec.params ?? (NO_FIELDS as unknown as P),
    query: spec.query ?? (NO_FIELDS as unknown as Q),
    body: spec.body ?? (null as B),
    answer: spec.answer ?? (null as A),
    status: spec.status ?? (hasAnswer ? 200 : 204),
    refusals: spec.refusals ?? [],
    guardsAgainstForgery: spec.guardsAgainstForgery ?? true,
    underView: spec.underView ?? viewOf(spec),
    load: spec.load ?? loadOf(spec),
    confirms: spec.confirms ?? false,
    beforeSecondFactor: spec.beforeSecondFactor ?? false,
  };
}

export const ROUTE = Symbol('tollgate.route');

/** Makes a controller's method the handler of a route. Its one parameter is the checked call. */
export function Serves<R extends Route>(declared: R) {
  const path = declared.path.replace(/\{(\w+)\}/g, ':$1');
  const decorate = applyDecorators(
    RequestMapping({ method: RequestMethod[declared.method], path }),
    SetMetadata(ROUTE, declared),
    HttpCode(declared.status),
    RouteConfig({
      streamsBody: declared.streamsBody,
      consumes: declared.consumes,
      needsSession: declared.access !== 'public',
      keepsBytes: declared.keepsBytes ?? false,
    }),
    UseGuards(AccessGuard),
  );
  return <H extends (call: CallOf<R>) => Promise<AnswerOf<R>> | AnswerOf<R>>(
    target: object,
    property: string | symbol,
    descriptor: TypedPropertyDescriptor<H>,
  ): void => {
    CallInput(declared)(target, property, 0);
    decorate(target, property, descriptor);
  };
}
