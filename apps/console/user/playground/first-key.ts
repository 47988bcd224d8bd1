import { api } from '../../api/client.js';
import { refresh } from '../../api/queries.js';
import type { Shape } from '../../api/shape.js';
import { keepNewKey } from '../new-key.js';

/** The group of the account that has the model and most others; null where none has it. */
export function widestGroup(
  models: readonly Shape<'ListedModel'>[],
  { own, model }: { own: readonly string[]; model: Shape<'ListedModel'> },
): string | null {
  const sizes = new Map<string, number>();
  for (const { groups } of models)
    for (const { group } of groups) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  const open = model.groups.map(({ group }) => group).filter((group) => own.includes(group));
  return open.sort((a, b) => sizes.get(b)! - sizes.get(a)! || a.localeCompare(b))[0] ?? null;
}

/** The key that a new account calls with; if this creates it, the key itself is kept for code. */
export async function firstKey(group: string, name: string): Promise<string> {
  const { keyId, apiKey } = (await api.POST('/api/keys/first', { body: { name, group } })).data!;
  if (apiKey !== null) keepNewKey({ keyId, apiKey });
  await refresh('/api/keys');
  return keyId;
}
