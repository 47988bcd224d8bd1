import { NumberInput, type NumberInputProps } from '@mantine/core';
import { common, type Field, type FieldOptions } from './field.js';

type CountOptions = FieldOptions<number | string> & Omit<NumberInputProps, keyof FieldOptions<number>>;

/** A whole number; null for none, such as no limit. */
export function countField(
  label: string,
  { initial, ...options }: Omit<CountOptions, 'initial'> & { initial?: number | null } = {},
): Field<number | string, number | null> {
  const { field, input } = common<number | string>('', { ...options, initial: initial ?? '' });
  return {
    ...field,
    read: (value) => (value === '' ? null : Number(value)),
    draw: (bound) => (
      <NumberInput label={label} min={1} allowDecimal={false} hideControls {...input} {...bound} />
    ),
  };
}
