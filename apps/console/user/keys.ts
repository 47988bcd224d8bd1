import { useMemo } from 'react';
import { $api } from '../api/client.js';

/** As many as a list to choose from can sensibly have. */
const MOST_KEYS = 200;

/** The keys of the account, to choose from and to name them in lists. */
export function useKeys() {
  return $api.useQuery('get', '/api/keys', { params: { query: { limit: MOST_KEYS } } });
}

/** How a key is called; of one that was deleted only its id is left. */
export function useKeyName(): (keyId: string) => string {
  const keys = useKeys().data?.items;
  return useMemo(() => {
    const names = new Map(keys?.map(({ keyId, name }) => [keyId, name]));
    return (keyId) => names.get(keyId) ?? keyId;
  }, [keys]);
}
