import { api } from '../../api/client.js';
import { refresh } from '../../api/queries.js';
import { keepNewKey } from '../new-key.js';

/** The key that a new account calls with; if this creates it, the key itself is kept for code. */
export async function firstKey(group: string, name: string): Promise<string> {
  const { keyId, apiKey } = (await api.POST('/api/keys/first', { body: { name, group } })).data!;
  if (apiKey !== null) keepNewKey({ keyId, apiKey });
  await refresh('/api/keys');
  return keyId;
}
