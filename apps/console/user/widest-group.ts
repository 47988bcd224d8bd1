import type { Shape } from '../api/client.js';

/** The account's group with the model and the most others; null if none has it. */
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
