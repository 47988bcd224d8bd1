import type { Shape } from '../../api/client.js';
import { type PlayKind, playKinds } from './call.js';

/** Editing models share the family of generating ones; their names decide which come first. */
export function modelsFor(kind: PlayKind, models: readonly Shape<'ListedModel'>[]): Shape<'ListedModel'>[] {
  const family = kind === 'edit' ? 'image' : kind;
  const isEditor = ({ id }: Shape<'ListedModel'>) => /edit/i.test(id);
  const found = models.filter((model) => model.family === family && model.available);
  if (family !== 'image') return found;
  const later = (model: Shape<'ListedModel'>) => (isEditor(model) === (kind === 'edit') ? 0 : 1);
  return found.sort((a, b) => later(a) - later(b));
}

/** Whether a key, or the first key that the call would create, may use the model. */
export function isUsable(
  model: Shape<'ListedModel'>,
  { keys, own }: { keys: readonly Shape<'Key'>[]; own: readonly string[] },
): boolean {
  if (keys.some(isWorking)) return keys.some((key) => mayUse(key, model));
  return model.groups.some(({ group }) => own.includes(group));
}

export function isWorking({ expiresAt }: Shape<'Key'>): boolean {
  return expiresAt === null || expiresAt > new Date().toISOString();
}

export function mayUse(key: Shape<'Key'>, model: Shape<'ListedModel'>): boolean {
  const { group, allowedModels } = key;
  return (
    model.groups.some((each) => each.group === group) &&
    (allowedModels === null || allowedModels.includes(model.id)) &&
    isWorking(key)
  );
}

/** The first type of call that the key may make. */
export function firstKindOf(
  key: Shape<'Key'>,
  models: readonly Shape<'ListedModel'>[],
): PlayKind | undefined {
  return playKinds.find((kind) => modelsFor(kind, models).some((model) => mayUse(key, model)));
}
