import { keepPreviousData } from '@tanstack/react-query';
import { type FetchResponse } from 'openapi-fetch';
import { api, queryClient } from './client.js';
import type { paths } from './schema.js';

/** What the control plane answers to a GET, such as `Answer<'/api/account'>`. */
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

/** Marks what was read as old, so that pages that show it read it again. Call it after something was changed. */
export async function refresh(...read: GetPath[]): Promise<void> {
  await Promise.all(read.map((path) => queryClient.invalidateQueries({ queryKey: ['get', path] })));
}

/** An option of queries: what was read before stays until what is asked for now is there. */
export const keepShown = { placeholderData: keepPreviousData };

/** For a form that is sent once however often the button is pressed: a new one for each form that is opened. */
export function newRequestId(): string {
  return crypto.randomUUID();
}

/** Where calls for models go, what credits are paid in, and what the viewer pays for one. */
export const relayQuery = {
  queryKey: ['relay'],
  queryFn: async () => (await api.GET('/api/public/relay')).data!,
  staleTime: 5 * 60_000,
};
