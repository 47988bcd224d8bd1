import { useQuery } from '@tanstack/react-query';
import { api } from '../api/client.js';
import type { GetAnswer } from '../api/queries.js';

export type Change = GetAnswer<'/api/admin/prices/export'>['rows'][number];

const PAGE = 200;

/** A catalog of more than that is not chosen from by looking at it. */
const MOST_PAGES = 20;

interface Part<One> {
  items: One[];
  nextCursor: string | null;
}

/** All pages of a list that is short enough to be searched here. */
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

/** Every model, also what is switched off; `refresh('/api/admin/models')` has it read again, as for the others. */
export function useModels() {
  return useQuery({
    queryKey: ['get', '/api/admin/models', 'all'],
    queryFn: () => allOf(async (query) => (await api.GET('/api/admin/models', { params: { query } })).data!),
  });
}

export function useGroups() {
  return useQuery({
    queryKey: ['get', '/api/admin/groups', 'all'],
    queryFn: () => allOf(async (query) => (await api.GET('/api/admin/groups', { params: { query } })).data!),
  });
}

export function useChannels() {
  return useQuery({
    queryKey: ['get', '/api/admin/channels', 'all'],
    queryFn: () =>
      allOf(async (query) => (await api.GET('/api/admin/channels', { params: { query } })).data!),
  });
}

/** Prices, multipliers and rules that are in force now, as changes that would make them so. */
export function useInForce() {
  return useQuery({
    queryKey: ['get', '/api/admin/prices/export'],
    queryFn: async () => (await api.GET('/api/admin/prices/export')).data!.rows,
  });
}
