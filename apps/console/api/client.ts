import { QueryClient } from '@tanstack/react-query';
import createClient, { type Middleware } from 'openapi-fetch';
import createHooks from 'openapi-react-query';
import { ApiFailure, failureFrom } from './failure.js';
import type { paths } from './schema.js';

const SAFE_METHODS = new Set(['GET', 'HEAD']);

/** Lists are stale after this long, and are read again when they are shown. */
const STALE_MS = 15_000;
const LONGEST_RETRY_MS = 10_000;
const RETRIES = 2;

let csrfToken: string | null = null;
let onSignedOut = (): void => undefined;
let askToConfirm = (): Promise<boolean> => Promise.resolve(false);

/** The session says what goes along with requests that change something. */
export function sendToken(token: string | null): void {
  csrfToken = token;
}

/** Called when the server says that the session has ended. */
export function whenSignedOut(handler: () => void): void {
  onSignedOut = handler;
}

/** Asks people to prove that it is them, where the server wants to know; answers whether they did. */
export function whenUnconfirmed(ask: () => Promise<boolean>): void {
  askToConfirm = ask;
}

/** What was sent: it is sent again once people have proved that it is them. */
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
    // A new sign-in in another tab: another session, and another token.
    if (failure.code === 'csrf_rejected') void queryClient.invalidateQueries({ queryKey: ['session'] });
    // A role was granted since: the frame shows what has to be done first.
    if (failure.code === 'second_factor_required')
      void queryClient.invalidateQueries({ queryKey: ['session'] });
    throw failure;
  },
  onError({ error }) {
    if (error instanceof ApiFailure) return error;
    return new ApiFailure({ status: 0, code: 'unreachable', message: String(error) });
  },
};

/** The control plane, typed by its document. A refusal is thrown as ApiFailure, so `data` of an answer is always there. */
export const api = createClient<paths>({ baseUrl: window.location.origin });
api.use(middleware);

/** Hooks of the same: `$api.useQuery('get', '/api/account')`, `$api.useMutation('post', '/api/keys')`. */
export const $api = createHooks(api);

/** What may go well the next time without anybody changing anything. */
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
    // What changes something is repeated by people, who see what happened.
    mutations: { retry: false },
  },
});
