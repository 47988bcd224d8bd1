import {
  keepPreviousData,
  notifyManager,
  QueryClient,
  useQuery,
  type UseQueryOptions,
  type UseQueryResult,
} from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import createClient, { type FetchResponse, type Middleware } from 'openapi-fetch';
import { ApiFailure, failureFrom, unreachable } from './failure.js';
import type { components, paths } from './schema.js';

const SAFE_METHODS = new Set(['GET', 'HEAD']);

/** Lists older than this are read again when shown. */
const STALE_MS = 15_000;
const LONGEST_RETRY_MS = 10_000;
const RETRIES = 2;

let csrfToken: string | null = null;
let onSignedOut = (): void => undefined;
let askToConfirm = (): Promise<boolean> => Promise.resolve(false);

/** Sets the token that is sent with every change. */
export function sendToken(token: string | null): void {
  csrfToken = token;
}

/** Sets what happens when the session has ended. */
export function whenSignedOut(handler: () => void): void {
  onSignedOut = handler;
}

/** Sets how people confirm who they are when the server asks; resolves to whether they did. */
export function whenUnconfirmed(ask: () => Promise<boolean>): void {
  askToConfirm = ask;
}

/** Copies of requests, to repeat once people have confirmed who they are. */
const copies = new WeakMap<Request, Request>();

const middleware: Middleware = {
  onRequest({ request }) {
    const isSafe = SAFE_METHODS.has(request.method);
    if (!isSafe && csrfToken !== null) request.headers.set('x-csrf-token', csrfToken);
    copies.set(request, request.clone());
  },
  async onResponse({ request, response }) {
    if (response.ok) return;
    let failure = await failureFrom(response);
    const copy = copies.get(request);
    if (failure.code === 'confirmation_required' && copy && (await askToConfirm())) {
      const again = await fetch(copy).catch((error: unknown) => {
        throw unreachable(error);
      });
      if (again.ok) return again;
      failure = await failureFrom(again);
    }
    if (failure.code === 'not_signed_in') onSignedOut();
    // A sign-in in another tab changed the session and its token.
    if (failure.code === 'csrf_rejected') void queryClient.invalidateQueries({ queryKey: ['session'] });
    // A role was granted meanwhile; the frame shows what people must do first.
    if (failure.code === 'second_factor_required')
      void queryClient.invalidateQueries({ queryKey: ['session'] });
    throw failure;
  },
  onError({ error }) {
    return error instanceof ApiFailure ? error : unreachable(error);
  },
};

/** The typed client of the control plane. It throws ApiFailure for errors, so an answer always has `data`. */
export const api = createClient<paths>({ baseUrl: window.location.origin });
api.use(middleware);

/** Errors that may go away by themselves. */
function isTransient(error: Error): boolean {
  return error instanceof ApiFailure && (error.status === 0 || error.status >= 502);
}

// Pages see a new answer before what waited for it goes on, such as a form that begins anew with it.
notifyManager.setScheduler(queueMicrotask);

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      retry: (count, error) => count < RETRIES && isTransient(error),
      retryDelay: (count) => Math.min(500 * 2 ** count, LONGEST_RETRY_MS),
    },
    // Only people repeat a change, because they see what happened.
    mutations: { retry: false },
  },
});

/** A named shape of the API, such as `Shape<'Ticket'>`. */
export type Shape<Name extends keyof components['schemas']> = components['schemas'][Name];

/** The answer to a GET, such as `GetAnswer<'/api/account'>`. */
export type GetAnswer<Path extends GetPath> = paths[Path] extends { get: infer Operation }
  ? NonNullable<
      FetchResponse<Operation & Record<string | number, unknown>, object, 'application/json'>['data']
    >
  : never;

/** One item of a list, such as `Item<'/api/keys'>`. */
export type Item<Path extends GetPath> =
  GetAnswer<Path> extends { items: readonly (infer One)[] } ? One : never;

export type GetPath = {
  [Path in keyof paths]: paths[Path] extends { get: object } ? Path : never;
}[keyof paths];

/** Marks cached answers as stale, so that pages read them again. Call it after a change. */
export async function refresh(...read: GetPath[]): Promise<void> {
  await Promise.all(read.map((path) => queryClient.invalidateQueries({ queryKey: ['get', path] })));
}

/** Marks everything of finance, and approvals, as stale. Call it after a posting. */
export function refreshFinance(): Promise<void> {
  return queryClient.invalidateQueries({
    predicate: ({ queryKey: [, path] }) => /^\/api\/(finance|approvals)\b/.test(String(path)),
  });
}

/** Marks everything as stale. Call it after a decision on a request, which does whatever was requested. */
export async function refreshAll(): Promise<void> {
  await Promise.all([queryClient.invalidateQueries({ queryKey: ['get'] }), refreshMarket()]);
}

/** Marks what is for sale as stale. Call it after a change of models, groups or prices. */
export function refreshMarket(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ['market'] });
}

/** Query option: keeps showing the previous answer until the new one is loaded. */
export const keepShown = { placeholderData: keepPreviousData };

/** Makes a form idempotent; create a new one for each form that is opened. */
export function newRequestId(): string {
  return crypto.randomUUID();
}

/** The relay's address, the payment currency, and the viewer's rate. */
export const relayQuery = {
  queryKey: ['relay'],
  queryFn: async () => (await api.GET('/api/public/relay')).data!,
  staleTime: 5 * 60_000,
};

type ParametersOf<Path extends GetPath> = paths[Path] extends { get: { parameters: infer Known } }
  ? Known
  : never;

type Asked<Path extends GetPath> = {
  [Part in 'path' | 'query']?: ParametersOf<Path> extends { [Name in Part]?: infer Known } ? Known : never;
};

type ReadOptions<Path extends GetPath> = Pick<
  UseQueryOptions<GetAnswer<Path>>,
  'enabled' | 'placeholderData' | 'refetchInterval' | 'refetchOnMount' | 'staleTime'
>;

/** The client only has types for literal paths. */
export const readPath = api.GET as (path: GetPath, init: object) => Promise<{ data?: unknown }>;

/** Puts an answer into the cache, such as that of a change. */
export function keepAnswer<Path extends GetPath>(
  path: Path,
  params: Asked<Path>,
  answer: GetAnswer<Path>,
): void {
  queryClient.setQueryData(['get', path, params], answer);
}

/** Reads a path. `refresh` reads it again. */
export function useRead<Path extends GetPath>(
  path: Path,
  params: Asked<Path> = {},
  options: ReadOptions<Path> = {},
): UseQueryResult<GetAnswer<Path>> {
  return useQuery({
    queryKey: ['get', path, params],
    queryFn: async ({ signal }) => (await readPath(path, { params, signal })).data as GetAnswer<Path>,
    ...options,
  });
}

/** Like `useRead`, but keeps showing the previous answer until the new one is loaded. */
export function useShown<Path extends GetPath>(
  path: Path,
  params: Asked<Path> = {},
  options: ReadOptions<Path> = {},
): UseQueryResult<GetAnswer<Path>> {
  return useRead(path, params, { ...keepShown, ...options });
}

/** Reads the page of a list that the address names; show it with a paged DataList. */
export function useList<Path extends GetPath>(
  path: Path,
  params: Asked<Path> = {},
  options: ReadOptions<Path> = {},
): UseQueryResult<GetAnswer<Path>> {
  const { cursor } = useSearch({ strict: false });
  const query: object = { ...(params.query as object | undefined), cursor };
  return useShown(path, { ...params, query } as Asked<Path>, options);
}
