import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { tagsField } from '../../ui/forms/choice-fields.js';
import type { Sent } from '../../ui/forms/field.js';
import { countField } from '../../ui/forms/number-fields.js';

type ModelLimitValues = Shape<'Model'>['limits'];

const countLimits = [
  'maxImages',
  'minInputImages',
  'defaultSeconds',
  'minSeconds',
  'maxSeconds',
  'maxInputTokens',
  'maxOutputTokens',
  'maxChoices',
] as const;
const listLimits = ['sizes', 'resolutions', 'aspectRatios'] as const;

export const limitNames = [...countLimits, ...listLimits] as const;

type CountName = (typeof countLimits)[number];
type ListName = (typeof listLimits)[number];
type LimitField = CountName | ListName;

/** The limits that make sense for each family. Others are shown only if the model has them. */
const OF_FAMILY: Record<Shape<'Model'>['family'], readonly LimitField[]> = {
  image: ['maxImages', 'minInputImages'],
  video: ['defaultSeconds', 'minSeconds', 'maxSeconds', 'sizes', 'resolutions', 'aspectRatios'],
  chat: ['maxInputTokens', 'maxOutputTokens', 'maxChoices'],
  speech: ['maxInputTokens', 'maxOutputTokens', 'maxSeconds'],
  '3d': [],
};

export function limitsHidden(family: Shape<'Model'>['family'], limits: ModelLimitValues): LimitField[] {
  return limitNames.filter((name) => !OF_FAMILY[family].includes(name) && limits[name] === undefined);
}

/** An empty field is no limit. */
export function useLimits(limits: ModelLimitValues) {
  const { t } = useTranslation('catalog');
  const counts = countLimits.map((name) => {
    const options = { initial: limits[name] ?? null, placeholder: t('limits.none'), isHalf: true };
    return [name, countField(t(`limits.${name}`), options)] as const;
  });
  const lists = listLimits.map((name) => {
    const options = { initial: [...(limits[name] ?? [])], hint: t(`limits.hints.${name}`) };
    return [name, tagsField(t(`limits.${name}`), options)] as const;
  });
  return Object.fromEntries([...counts, ...lists]) as LimitFields;
}

type LimitFields = Record<CountName, ReturnType<typeof countField>> &
  Record<ListName, ReturnType<typeof tagsField>>;

/** Empty fields are no limits. */
export function limitsFrom(values: ModelLimitValues | Sent<LimitFields>): ModelLimitValues {
  const said = limitNames
    .map((name) => [name, values[name] ?? null] as const)
    .filter(([, value]) => (Array.isArray(value) ? value.length > 0 : value !== null));
  return Object.fromEntries(said);
}
