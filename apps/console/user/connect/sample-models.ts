import type { Shape } from '../../api/shape.js';
import { type SampleModels, usualModels } from '../../visitor/code-samples.js';

interface Caller {
  /** Null: whichever, for nobody can call any. */
  group: string | null;
  allowedModels?: readonly string[] | null;
}

/** The gateway serves Google's `:predict` for these names alone. */
const GOOGLE = /^(imgmodel|imagen)/;

/** What samples call: models that the key or the group has, those of the documentation where there are. Where it has none, those alone. */
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
