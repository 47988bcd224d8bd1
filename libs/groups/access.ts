import { VENDORA, VENDORA_MAIN } from './group.js';

/** What access depends on: the model's family, and its owners including its alias target's. */
export interface ServedModel {
  readonly family: string;
  readonly owners: readonly string[];
}

/** Models that the keys of each group may use. */
export type GroupAccess = ReadonlyMap<string, ReadonlySet<string>>;

/** The rule of `mayServe` in words, for people who set a group's models. */
export const SERVING_RULE = `videos and the vendor's own image models are served by ${VENDORA_MAIN} alone`;

/**
 * Whether a group may serve a model at all, whatever the catalog says: videos and the vendor's own image models are for
 * Vendora-Main alone.
 */
export function mayServe(group: string, { family, owners }: ServedModel): boolean {
  if (group === VENDORA_MAIN) return true;
  const isVendors = owners.some((owner) => owner.trim().toLowerCase() === VENDORA);
  return family !== 'video' && !(family === 'image' && isVendors);
}

/** The models of each group, from stored pairs. Models that a group may not serve are left out, even if stored. */
export function accessOf(
  pairs: readonly { group: string; model: string }[],
  modelOf: (id: string) => ServedModel | undefined,
): GroupAccess {
  const access = new Map<string, Set<string>>();
  for (const { group, model: id } of pairs) {
    const model = modelOf(id);
    if (model && mayServe(group, model)) access.set(group, (access.get(group) ?? new Set()).add(id));
  }
  return access;
}

/** Whether the keys of a group may use a model; false also for a group or a model that does not exist. */
export function isInGroup({ access }: { access: GroupAccess }, group: string, model: string): boolean {
  return access.get(group)?.has(model) ?? false;
}
