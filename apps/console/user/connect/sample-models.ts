import type { Shape } from '../../api/client.js';
import { type SampleModels, usualModels } from '../../visitor/code-samples.js';

interface Caller {
  /** Null: any group. */
  group: string | null;
  allowedModels?: readonly string[] | null;
}

/** The gateway serves Google's `:predict` only for these names. */
const GOOGLE = /^(imgmodel|imagen)/;

/** Prefers the models of the docs among those that the key or group has. Without any, only those of the docs. */
export function sampleModels(
  models: readonly Shape<'ListedModel'>[],
  { group, allowedModels = null }: Caller,
): Partial<SampleModels> {
  const callable = models.filter(
    ({ id, available, groups }) =>
      available &&
      (group === null || groups.some((each) => each.group === group)) &&
      (allowedModels === null || allowedModels.includes(id)),
  );
  const pick = (use: keyof SampleModels, fits: (model: Shape<'ListedModel'>) => boolean) => {
    const found = callable.find(({ id }) => id === usualModels[use]) ?? callable.find(fits);
    return found ? { [use]: found.id } : {};
  };
  const isGenerator = ({ family, limits }: Shape<'ListedModel'>) =>
    family === 'image' && !limits.minInputImages;
  const found = {
    ...pick('image', isGenerator),
    ...pick('video', ({ family }) => family === 'video'),
    ...pick('google', (model) => isGenerator(model) && GOOGLE.test(model.id)),
    ...pick('messages', ({ family }) => family === 'chat'),
  };
  return Object.keys(found).length > 0 ? found : usualModels;
}
