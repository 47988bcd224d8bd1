import { keepPreviousData } from '@tanstack/react-query';
import { type FetchResponse } from 'openapi-fetch';
import { api, queryClient } from './client.js';
import type { paths } from './schema.js';

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

/** Marks everything of finance, and approvals, as stale. Call it after a posting or a decision about one. */
export function refreshFinance(): Promise<void> {
  return queryClient.invalidateQueries({
    predicate: ({ queryKey: [, path] }) => /^\/api\/(finance|approvals)\b/.test(String(path)),
  });
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
