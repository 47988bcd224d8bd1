import { skipToken, useQuery } from '@tanstack/react-query';
import { queryClient } from '../api/client.js';

/** A key that was created in this tab, with the key itself, which the server shows once. */
export interface KeptKey {
  keyId: string;
  apiKey: string;
}

const NEW_KEY = ['new-key'];
// Only in memory: until the tab is reloaded or closed, or the session is another.
queryClient.setQueryDefaults(NEW_KEY, { gcTime: Infinity, staleTime: Infinity });

export function keepNewKey(key: KeptKey): void {
  queryClient.setQueryData(NEW_KEY, key);
}

/** The key that was created last, for lines of code that can be run as they are. */
export function useNewKey(): KeptKey | null {
  return useQuery<KeptKey>({ queryKey: NEW_KEY, queryFn: skipToken }).data ?? null;
}

/** After the key was deleted. */
export function forgetNewKey(keyId: string): void {
  if (queryClient.getQueryData<KeptKey>(NEW_KEY)?.keyId === keyId)
    queryClient.removeQueries({ queryKey: NEW_KEY });
}
