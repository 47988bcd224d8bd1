import { QueryClient } from '@tanstack/react-query';
import createClient, { type Middleware } from 'openapi-fetch';
import createHooks from 'openapi-react-query';
import { ApiFailure, failureFrom } from './failure.js';
import type { paths } from './schema.js';

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
      const again = await fetch(copy);
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
    if (error instanceof ApiFailure) return error;
    return new ApiFailure({ status: 0, code: 'unreachable', message: String(error) });
  },
};

/** The typed client of the control plane. It throws ApiFailure for errors, so an answer always has `data`. */
export const api = createClient<paths>({ baseUrl: window.location.origin });
api.use(middleware);

/** Its hooks: `$api.useQuery('get', '/api/account')`. */
export const $api = createHooks(api);

/** Errors that may go away by themselves. */
function isTransient(error: Error): boolean {
  return error instanceof ApiFailure && (error.status === 0 || error.status >= 502);
}

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
