import { PasswordInput, type PasswordInputProps, Text, TextInput, type TextInputProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { enteredTime, localMinute } from '../time/minute.js';
import { common, type Field, type FieldOptions } from './field.js';

export interface TextRules extends FieldOptions<string> {
  /** The rule, and the error if the text breaks it. */
  rule?: readonly [fits: RegExp | ((text: string) => boolean), said: string];
  /** The error if nothing is entered. */
  missing?: string | undefined;
  /** May be empty despite the rule. */
  isOptional?: boolean;
}

type TextOptions = TextRules & Omit<TextInputProps, keyof TextRules>;

function judged({ rule, missing, isOptional = false, ...options }: TextRules) {
  const required = !isOptional && (missing !== undefined || rule !== undefined);
  const fault = (value: string) => {
    if (value === '') return required ? (missing ?? rule?.[1] ?? null) : null;
    if (!rule) return null;
    const [fits, said] = rule;
    return (typeof fits === 'function' ? fits(value) : fits.test(value)) ? null : said;
  };
  return { required, fault, options };
}

export function trimmed(given: TextRules) {
  const { required, fault, options } = judged(given);
  const { field, input } = common('', options);
  const rules = {
    ...field,
    read: (value: string) => value.trim(),
    fault: (value: string) => fault(value.trim()),
  };
  return { rules, input: { required, ...input } };
}

/** A line of text. Browsers do not fill it in unless it sets `autoComplete`. */
export function textField(label: string, options: TextOptions = {}): Field<string> {
  const { rules, input } = trimmed(options);
  return { ...rules, draw: (bound) => <TextInput label={label} autoComplete="off" {...input} {...bound} /> };
}

/** A decimal string, such as a multiplier or an amount of money. */
export function amountField(label: string, options: TextOptions = {}): Field<string> {
  return textField(label, { inputMode: 'decimal', ...options });
}

/** An amount of credits, with its unit at the end. */
export function creditsField(label: string, options: TextOptions = {}): Field<string> {
  return amountField(label, { ...unitSection(), ...options });
}

/** The unit at the end of a field: credits, or the given currency. */
export function unitSection(currency?: string) {
  const unit = currency === undefined ? <CreditUnit /> : <Text size="sm">{currency}</Text>;
  return { rightSection: unit, rightSectionWidth: '4.5rem' };
}

function CreditUnit() {
  const { t } = useTranslation('shell');
  return <Text size="sm">{t('creditUnit')}</Text>;
}

/** Sends null if nothing is entered. */
export function orNull(field: Field<string>): Field<string, string | null> {
  return { ...field, read: (value) => field.read(value) || null };
}

/** A password, which is not trimmed. */
export function passwordField(label: string, given: TextOptions): Field<string> {
  const { fault, options } = judged(given);
  const { field, input } = common('', options);
  return {
    ...field,
    fault,
    draw: (bound) => <Password label={label} {...input} {...bound} />,
  };
}

/** Announces errors to screen readers, as the library's other fields do. */
function Password(props: PasswordInputProps) {
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

/** A future time, entered in the viewer's time zone and sent in UTC; null for none. */
export function momentField(label: string, options: TextOptions = {}): Field<string, string | null> {
  const min = localMinute(new Date());
  return {
    ...textField(label, { type: 'datetime-local', min, ...options }),
    read: (value) => enteredTime(value),
  };
}
