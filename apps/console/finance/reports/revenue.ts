import type { Shape } from '../../api/shape.js';

export type RevenueLine = Shape<'Revenue'>['rows'][number];

export const dimensions = ['model', 'family', 'group', 'channel', 'account', 'day'] as const;
export type Dimension = (typeof dimensions)[number];

export interface Within {
  dimension: Dimension;
  value: string;
}

/** One value of a dimension as the address has it: `model:{id}`. */
export function withinOf(text: string | undefined): Within | null {
  const [name, ...rest] = text?.split(':') ?? [];
  const dimension = dimensions.find((each) => each === name);
  return dimension && rest.length > 0 ? { dimension, value: rest.join(':') } : null;
}
