import { useQuery } from '@tanstack/react-query';
import { allOf } from '../api/all-of.js';
import { api, type GetAnswer } from '../api/client.js';

export type Change = GetAnswer<'/api/admin/prices/export'>['rows'][number];

/** Includes models that are switched off. `refresh('/api/admin/models')` rereads it, and likewise the lists below. */
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

/** Current prices, multipliers and rules, in the form of changes. */
export function useInForce() {
  return useQuery({
    queryKey: ['get', '/api/admin/prices/export'],
    queryFn: async () => (await api.GET('/api/admin/prices/export')).data!.rows,
  });
}
