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
import { id, pageOf, pageQuery } from '#platform/http/fields.js';
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

type Readers<X extends Access> = Pick<Common<X>, 'access' | 'tag' | 'reads'>;

interface Common<X extends Access = Access> extends Pick<Route, 'method' | 'tag' | 'produces'> {
  readonly reads: Reads;
  readonly access: X;
}

/**
 * Declares routes of one tag for the same readers. `csv` is a GET that answers a file of rows, read as reports are. `list` is a
 * GET of these items in pages. A GET may have a `csv` of all its rows, which is at the same path with `.csv`.
 */
export function routesFor<const X extends Access>(access: X, tag: string, reads: Reads = 'primary') {
  return {
    get: declaringGet({ access, tag, reads }),
    csv: declaringCsv({ access, tag }),
    list: <I extends z.ZodType>(item: I) => declaringList({ access, tag, reads }, item),
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

/** The operation and the summary of a file. */
type Csv = readonly [operation: string, summary: string];
type WithFile<R, X, P extends Fields, Q extends Fields, C> = R &
  (C extends Csv ? { csv: Route<P, Unpaged<Q>, null, null> & { access: X } } : unknown);
type Unpaged<Q extends Fields> = z.ZodObject<Omit<Q['shape'], 'limit' | 'cursor'>>;

function declaringGet<X extends Access>(common: Readers<X>) {
  const [answering, writing] = [declaring({ ...common, method: 'GET' }), declaringCsv(common)];
  return <
    const Path extends Route['path'],
    P extends Fields = IdsIn<Path>,
    Q extends Fields = NoFields,
    A extends z.ZodType | null = null,
    C extends Csv | undefined = undefined,
  >(
    operation: string,
    path: Path,
    { csv, ...spec }: Spec<P, Q, null, A> & { readonly csv?: C },
  ) => {
    const route = answering<Path, P, Q, null, A>(operation, path, spec);
    const { limit: _, cursor: __, ...filter } = spec.query?.shape ?? {};
    const file = csv && { summary: csv[1], params: spec.params, query: z.strictObject(filter) };
    const declared = file ? { ...route, csv: writing(csv[0], `${path}.csv` as Path, file) } : route;
    return declared as unknown as WithFile<typeof route, X, P, Q, C>;
  };
}

/** `query` has what a list may be filtered by, besides its pages. */
function declaringList<X extends Access, I extends z.ZodType>(common: Readers<X>, item: I) {
  const get = declaringGet(common);
  return <
    const Path extends Route['path'],
    P extends Fields = IdsIn<Path>,
    F extends z.ZodRawShape = Record<never, z.ZodType>,
    C extends Csv | undefined = undefined,
  >(
    operation: string,
    path: Path,
    spec: Omit<Spec<P, Fields, null, null>, 'query' | 'answer'> & { query?: F; csv?: C },
  ) => {
    const query = z.strictObject({ ...pageQuery, ...spec.query }) as z.ZodObject<typeof pageQuery & F>;
    const answer = pageOf(item);
    return get<Path, P, typeof query, typeof answer, C>(operation, path, { ...spec, query, answer });
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
