import type { Shape } from '../../api/shape.js';

export type ModelLimitValues = Shape<'Model'>['limits'];

export const countLimits = [
  'maxImages',
  'minInputImages',
  'defaultSeconds',
  'minSeconds',
  'maxSeconds',
  'maxInputTokens',
  'maxOutputTokens',
  'maxChoices',
] as const;
export const listLimits = ['sizes', 'resolutions', 'aspectRatios'] as const;

type CountName = (typeof countLimits)[number];
type ListName = (typeof listLimits)[number];
export type LimitField = CountName | ListName;

/** What can be limited for the calls of a family; what a model limits beyond it is shown too. */
const OF_FAMILY: Record<Shape<'Model'>['family'], readonly LimitField[]> = {
  image: ['maxImages', 'minInputImages'],
  video: ['defaultSeconds', 'minSeconds', 'maxSeconds', 'sizes', 'resolutions', 'aspectRatios'],
  chat: ['maxInputTokens', 'maxOutputTokens', 'maxChoices'],
  speech: ['maxInputTokens'],
  '3d': [],
};

/** A form's fields; empty: not limited. */
export type LimitValues = Record<CountName, number | string> & Record<ListName, string[]>;

export function limitsShown(
  family: Shape<'Model'>['family'],
  limits: ModelLimitValues,
): (name: LimitField) => boolean {
  return (name) => OF_FAMILY[family].includes(name) || limits[name] !== undefined;
}

export function limitValues(limits: ModelLimitValues): LimitValues {
  const counts = countLimits.map((name) => [name, limits[name] ?? ''] as const);
  const lists = listLimits.map((name) => [name, [...(limits[name] ?? [])]] as const);
  return Object.fromEntries([...counts, ...lists]) as LimitValues;
}

export function limitsFrom(values: LimitValues): ModelLimitValues {
  const counts = countLimits.flatMap((name) =>
    values[name] === '' ? [] : [[name, Number(values[name])] as const],
  );
  const lists = listLimits.flatMap((name) =>
    values[name].length === 0 ? [] : [[name, values[name]] as const],
  );
  return Object.fromEntries([...counts, ...lists]) as ModelLimitValues;
}
