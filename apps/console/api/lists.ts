import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { api } from './client.js';
import { type GetAnswer, type GetPath, keepShown } from './queries.js';
import type { paths } from './schema.js';

type Parameters<Path extends GetPath> = paths[Path] extends { get: { parameters: infer Known } }
  ? Known
  : never;

/** What a path is asked with: the names in it, and its query. */
type Asked<Path extends GetPath> = {
  [Part in 'path' | 'query']?: Parameters<Path> extends { [Name in Part]?: infer Known } ? Known : never;
};

interface Again {
  /** Milliseconds after which it is read again. */
  refetchInterval?: number;
}

/** The client knows what each path takes and answers only where the path is written out. */
const read = api.GET as (path: GetPath, init: object) => Promise<{ data?: unknown }>;

/** Reads a path; what was read before stays until what is asked for now is there. */
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

/** A list of which the address says the page; show it by a DataList that is paged. */
export function useList<Path extends GetPath>(
  path: Path,
  params: Asked<Path> = {},
  again: Again = {},
): UseQueryResult<GetAnswer<Path>> {
  const { cursor } = useSearch({ strict: false });
  const query: object = { ...(params.query as object | undefined), cursor };
  return useShown(path, { ...params, query } as Asked<Path>, again);
}
