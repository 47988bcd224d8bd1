import { api, refresh } from '../../api/client.js';
import { keepNewKey } from '../new-key.js';

/** A new account's first key; if it is created here, its secret is kept for code. */
export async function firstKey(group: string, name: string): Promise<string> {
  const { keyId, apiKey } = (await api.POST('/api/keys/first', { body: { name, group } })).data!;
  if (apiKey !== null) keepNewKey({ keyId, apiKey });
  await refresh('/api/keys');
  return keyId;
}
