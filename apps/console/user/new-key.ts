import { skipToken, useQuery } from '@tanstack/react-query';
import { queryClient } from '../api/client.js';

/** The secret is known only in the tab that created it. */
export interface KeptKey {
  keyId: string;
  apiKey: string;
}

const NEW_KEY = ['new-key'];
// In memory only, until a reload or another session.
queryClient.setQueryDefaults(NEW_KEY, { gcTime: Infinity, staleTime: Infinity });

export function keepNewKey(key: KeptKey): void {
  queryClient.setQueryData(NEW_KEY, key);
}

/** The last created key, for code that runs without changes. */
export function useNewKey(): KeptKey | null {
  return useQuery<KeptKey>({ queryKey: NEW_KEY, queryFn: skipToken }).data ?? null;
}

export function forgetNewKey(keyId: string): void {
  if (queryClient.getQueryData<KeptKey>(NEW_KEY)?.keyId === keyId)
    queryClient.removeQueries({ queryKey: NEW_KEY });
}
