import { RouteConfig } from '@nestjs/platform-fastify';
import {
  applyDecorators,
  HttpCode,
  RequestMapping,
  RequestMethod,
  SetMetadata,
  UseGuards,
} from '@nestjs/common';
import type pg from 'pg';
import { z } from 'zod';
import type { Actor } from '#identity/role.js';
import { id } from '#platform/http/fields.js';
import { AccessGuard } from './access.guard.js';
import { type Call, CallInput } from './call.js';
import type { CallSession } from './call-session.js';
import { type Access, type Fields, type Reads, type Route, ROUTE, type UnderView } from './declared-route.js';
import type { Load } from './heavy-work.js';
import { DatabaseGuard } from './reports-database.js';

/** If a role is needed, there is a session. */
type SignedIn<C> = Omit<C, 'session'> & {
  readonly session: CallSession;
  readonly actor: Actor;
  /** The one that the route reads: a replica, where reports have one. */
  readonly database: pg.Pool;
};

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
  | ('params' | 'query' | 'body' | 'answer' | 'status' | 'refusals' | 'produces')
  | (
      | 'guardsAgainstForgery'
      | 'underView'
      | 'load'
      | 'reads'
      | 'confirms'
      | 'beforeSecondFactor'
      | 'countedApart'
    );

const NO_FIELDS = z.strictObject({});
type NoFields = typeof NO_FIELDS;

type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;
type IdsIn<Path extends string> = z.ZodObject<Record<NamesIn<Path>, typeof id>>;

function idsIn(path: string): z.ZodObject {
  return z.strictObject(Object.fromEntries([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, id])));
}

/** Only what every user owns can be viewed. */
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

type Spec<P extends Fields, Q extends Fields, B extends z.ZodType | null, A extends z.ZodType | null> = Omit<
  Route<P, Q, B, A>,
  Optional | 'access' | 'method' | 'tag' | 'id' | 'path'
> &
  Partial<Pick<Route<P, Q, B, A>, Optional>>;

interface Common<X extends Access = Access> extends Pick<Route, 'method' | 'tag' | 'produces'> {
  readonly reads: Reads;
  readonly access: X;
}

/**
 * Declares routes of one tag for the same readers; `csv` is a GET that answers a file of rows, read as reports are, and `table`
 * a GET with such a file of all its rows.
 */
export function routesFor<const X extends Access>(access: X, tag: string, reads: Reads = 'primary') {
  return {
    get: declaring({ access, tag, reads, method: 'GET' }),
    csv: declaringCsv({ access, tag }),
    table: declaringTable({ access, tag, reads }),
    post: declaring({ access, tag, reads: 'primary', method: 'POST' }),
    put: declaring({ access, tag, reads: 'primary', method: 'PUT' }),
    patch: declaring({ access, tag, reads: 'primary', method: 'PATCH' }),
    delete: declaring({ access, tag, reads: 'primary', method: 'DELETE' }),
  };
}

/** The defaults: parameters of the path are IDs, no query, no body, status 200 with an answer and 204 without. */
function declaring<X extends Access>(common: Common<X>) {
  return <
    const Path extends Route['path'],
    P extends Fields = IdsIn<Path>,
    Q extends Fields = NoFields,
    B extends z.ZodType | null = null,
    A extends z.ZodType | null = null,
  >(
    operation: string,
    path: Path,
    spec: Spec<P, Q, B, A>,
  ): Route<P, Q, B, A> & { access: X } => {
    const declared = { ...common, ...spec, id: operation, path };
    const hasAnswer = spec.answer != null || declared.produces !== undefined;
    return {
      ...declared,
      params: spec.params ?? (idsIn(path) as unknown as P),
      query: spec.query ?? (NO_FIELDS as unknown as Q),
      body: spec.body ?? (null as B),
      answer: spec.answer ?? (null as A),
      status: spec.status ?? (hasAnswer ? 200 : 204),
      refusals: spec.refusals ?? [],
      guardsAgainstForgery: spec.guardsAgainstForgery ?? true,
      underView: spec.underView ?? viewOf(declared),
      load: spec.load ?? loadOf(declared),
      confirms: spec.confirms ?? false,
      beforeSecondFactor: spec.beforeSecondFactor ?? false,
      countedApart: spec.countedApart ?? false,
    };
  };
}

function declaringCsv<X extends Access>(common: Pick<Common<X>, 'access' | 'tag'>) {
  return declaring({ ...common, reads: 'reports', method: 'GET', produces: ['text/csv'] });
}

/** The file is at the same path with `.csv`, and has no pages. */
function declaringTable<X extends Access>(common: Pick<Common<X>, 'access' | 'tag' | 'reads'>) {
  const [answering, writing] = [declaring({ ...common, method: 'GET' }), declaringCsv(common)];
  return <
    const Path extends Route['path'],
    A extends z.ZodType,
    P extends Fields = IdsIn<Path>,
    Q extends Fields = NoFields,
  >(
    operation: string,
    path: Path,
    { csv, ...spec }: Spec<P, Q, null, A> & { readonly csv: readonly [operation: string, summary: string] },
  ) => {
    const [fileOperation, summary] = csv;
    const { limit: _, cursor: __, ...filter } = spec.query?.shape ?? {};
    const query = z.strictObject(filter) as unknown as z.ZodObject<Omit<Q['shape'], 'limit' | 'cursor'>>;
    const file = { summary, params: spec.params, query };
    return {
      ...answering<Path, P, Q, null, A>(operation, path, spec),
      csv: writing<Path, P, typeof query>(fileOperation, `${path}.csv` as Path, file),
    };
  };
}

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
    UseGuards(AccessGuard, DatabaseGuard),
  );
  return <H extends (call: CallOf<R>) => Promise<AnswerOf<R>> | AnswerOf<R>>(
    target: object,
    property: string | symbol,
    descriptor: TypedPropertyDescriptor<H>,
  ): void => {
    const { answer } = declared;
    if (answer !== null) descriptor.value = shaping(descriptor.value as Handler, answer) as unknown as H;
    CallInput(declared)(target, property, 0);
    decorate(target, property, descriptor);
  };
}

type Handler = (call: unknown) => unknown;

/** Gives an answer the shape of its route: what is not declared stays here. A 304 has none. */
function shaping(handle: Handler, answer: z.ZodType): Handler {
  return async function (this: unknown, call: unknown): Promise<unknown> {
    const made = await handle.call(this, call);
    return made === undefined ? undefined : answer.parse(made);
  };
}
