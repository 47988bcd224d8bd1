import { useMemo } from 'react';
import { useRead } from '../api/client.js';

/** Nobody chooses from a longer list. */
const MOST_KEYS = 200;

export function useKeys() {
  return useRead('/api/keys', { query: { limit: MOST_KEYS } });
}

/** Of a deleted key only the id is left. */
export function useKeyName(): (keyId: string) => string {
  const keys = useKeys().data?.items;
  return useMemo(() => {
    const names = new Map(keys?.map(({ keyId, name }) => [keyId, name]));
    return (keyId) => names.get(keyId) ?? keyId;
  }, [keys]);
}
