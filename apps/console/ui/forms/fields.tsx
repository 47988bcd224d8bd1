import { PasswordInput, type PasswordInputProps, Text, TextInput, type TextInputProps } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { localMinute } from '../time/minute.js';

/** What fields use of the library's `useForm`. */
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

/** A line of text. Browsers do not fill it in unless it sets `autoComplete`. */
export function TextField<Values>({
  form,
  name,
  ...input
}: FieldProps<Values> & Omit<TextInputProps, 'form'>) {
  return <TextInput key={form.key(name)} autoComplete="off" {...input} {...form.getInputProps(name)} />;
}

/** A future time in the viewer's time zone. */
export function MomentField<Values>(props: FieldProps<Values> & Omit<TextInputProps, 'form'>) {
  const [now] = useState(() => localMinute(new Date()));
  return <TextField type="datetime-local" min={now} {...props} />;
}

function AmountField<Values>(field: FieldProps<Values> & Omit<TextInputProps, 'form'>) {
  return <TextField inputMode="decimal" {...field} />;
}

/** An amount of credits, with its unit at the end. */
export function CreditsField<Values>(field: FieldProps<Values> & Omit<TextInputProps, 'form'>) {
  return <AmountField {...useUnitSection()} {...field} />;
}

/** The unit at the end of a field: credits, or the given currency. */
export function useUnitSection(currency?: string) {
  const { t } = useTranslation('shell');
  return { rightSection: <Text size="sm">{currency ?? t('creditUnit')}</Text>, rightSectionWidth: '4.5rem' };
}

/** A password field that announces errors to screen readers, as the library's other fields do. */
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
