import { useQuery } from '@tanstack/react-query';
import { useAll } from '../api/all-of.js';
import { api, type GetAnswer } from '../api/client.js';

export type Change = GetAnswer<'/api/admin/prices/export'>['rows'][number];

/** Includes models that are switched off. `refresh('/api/admin/models')` rereads it, and likewise the lists below. */
export function useModels() {
  return useAll('/api/admin/models');
}

export function useGroups() {
  return useAll('/api/admin/groups');
}

export function useChannels() {
  return useAll('/api/admin/channels');
}

/** Current prices, multipliers and rules, in the form of changes. */
export function useInForce() {
  return useQuery({
    queryKey: ['get', '/api/admin/prices/export'],
    queryFn: async () => (await api.GET('/api/admin/prices/export')).data!.rows,
  });
}
