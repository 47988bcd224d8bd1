import { PasswordInput, type PasswordInputProps, Text, TextInput, type TextInputProps } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { localMinute } from '../time/minute.js';

/** What fields use of a form of the library's `useForm`. */
interface Inputs {
  getInputProps: (name: string, options?: { type: 'checkbox' | 'input' }) => object;
}

export interface FieldsOf<Values> extends Inputs {
  getValues: () => Values;
  key: (name: string) => string;
}

interface FieldProps<Values> {
  form: FieldsOf<Values>;
  name: keyof Values & string;
}

/** A line of text of a form. Browsers fill in none of it, unless it says what it is. */
export function TextField<Values>({
  form,
  name,
  ...input
}: FieldProps<Values> & Omit<TextInputProps, 'form'>) {
  return <TextInput key={form.key(name)} autoComplete="off" {...input} {...form.getInputProps(name)} />;
}

/** A moment from now on, in the viewer's zone. */
export function MomentField<Values>(props: FieldProps<Values> & Omit<TextInputProps, 'form'>) {
  const [now] = useState(() => localMinute(new Date()));
  return <TextField type="datetime-local" min={now} {...props} />;
}

/** A decimal string of a form, such as a multiplier or an amount of money. */
function AmountField<Values>(field: FieldProps<Values> & Omit<TextInputProps, 'form'>) {
  return <TextField inputMode="decimal" {...field} />;
}

/** The same of credits, which it names at its end. */
export function CreditsField<Values>(field: FieldProps<Values> & Omit<TextInputProps, 'form'>) {
  return <AmountField {...useUnitSection()} {...field} />;
}

/** What the end of a field says that takes credits, or an amount of the currency that is given. */
export function useUnitSection(currency?: string) {
  const { t } = useTranslation('shell');
  return { rightSection: <Text size="sm">{currency ?? t('creditUnit')}</Text>, rightSectionWidth: '4.5rem' };
}

/** The library's password field; like its other fields, it announces an error to screen readers. */
export function Password(props: PasswordInputProps) {
  const { t } = useTranslation('shell');
  return (
    <PasswordInput
      required
      visibilityToggleButtonProps={{ 'aria-label': t('confirmation.show') }}
      aria-invalid={props.error ? true : undefined}
      {...props}
    />
  );
}
