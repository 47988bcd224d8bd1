import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { api } from './client.js';
import { type GetAnswer, type GetPath, keepShown } from './queries.js';
import type { paths } from './schema.js';

type Parameters<Path extends GetPath> = paths[Path] extends { get: { parameters: infer Known } }
  ? Known
  : never;

type Asked<Path extends GetPath> = {
  [Part in 'path' | 'query']?: Parameters<Path> extends { [Name in Part]?: infer Known } ? Known : never;
};

interface Again {
  /** The interval of reads, in milliseconds. */
  refetchInterval?: number;
}

/** The client only has types for literal paths. */
const read = api.GET as (path: GetPath, init: object) => Promise<{ data?: unknown }>;

/** Reads a path, and keeps showing the previous answer until the new one is loaded. */
export function useShown<Path extends GetPath>(
  path: Path,
  params: Asked<Path> = {},
  again: Again = {},
): UseQueryResult<GetAnswer<Path>> {
  return useQuery({
    queryKey: ['get', path, { params }],
    queryFn: async ({ signal }) => (await read(path, { params, signal })).data as GetAnswer<Path>,
    ...keepShown,
    ...again,
  });
}

/** Reads the page of a list that the address names; show it with a paged DataList. */
export function useList<Path extends GetPath>(
  path: Path,
  params: Asked<Path> = {},
  again: Again = {},
): UseQueryResult<GetAnswer<Path>> {
  const { cursor } = useSearch({ strict: false });
  const query: object = { ...(params.query as object | undefined), cursor };
  return useShown(path, { ...params, query } as Asked<Path>, again);
}
