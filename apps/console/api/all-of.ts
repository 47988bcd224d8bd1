import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { type GetPath, type Item, readPath } from './client.js';

const PAGE = 200;

/** Nobody reads or chooses from a longer list as a whole; it would need the server's search. */
const MOST_PAGES = 20;

interface Part<One> {
  items: One[];
  nextCursor: string | null;
}

/** Reads all pages of a list that is short enough to search in the browser. */
export async function allOf<One>(
  read: (query: { limit: number; cursor?: string }) => Promise<Part<One>>,
): Promise<One[]> {
  const found: One[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MOST_PAGES; page++) {
    const part: Part<One> = await read({ limit: PAGE, ...(cursor === null ? {} : { cursor }) });
    found.push(...part.items);
    cursor = part.nextCursor;
    if (cursor === null) break;
  }
  return found;
}

/** `allOf` as a hook, for a list that a page needs as a whole. */
export function useAll<Path extends GetPath>(path: Path): UseQueryResult<Item<Path>[]> {
  return useQuery({
    queryKey: ['get', path, 'all'],
    queryFn: () =>
      allOf(async (query) => (await readPath(path, { params: { query } })).data as Part<Item<Path>>),
  });
}
