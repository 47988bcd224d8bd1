import { Text, Textarea, type TextareaProps, TextInput, type TextInputProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { localMinute } from '../time/minute.js';
import { common, type Field, type FieldOptions } from './field.js';
import { Password } from './fields.js';

interface Rules extends FieldOptions<string> {
  /** What it has to be like, and what is said where it is not. */
  rule?: readonly [fits: RegExp | ((text: string) => boolean), said: string];
  /** Said where nothing is entered. */
  missing?: string | undefined;
  /** It may be empty although there is a rule. */
  isOptional?: boolean;
}

type TextOptions = Rules & Omit<TextInputProps, keyof Rules>;
type LinesOptions = Rules & Omit<TextareaProps, keyof Rules>;

/** What is wrong with a text, and whether there has to be one. */
function judged({ rule, missing, isOptional = false, ...options }: Rules) {
  const required = !isOptional && (missing !== undefined || rule !== undefined);
  const fault = (value: string) => {
    if (value === '') return required ? (missing ?? rule?.[1] ?? null) : null;
    if (!rule) return null;
    const [fits, said] = rule;
    return (typeof fits === 'function' ? fits(value) : fits.test(value)) ? null : said;
  };
  return { required, fault, options };
}

/** What is entered without the spaces around it. */
function trimmed(given: Rules) {
  const { required, fault, options } = judged(given);
  const { field, input } = common('', options);
  const rules = {
    ...field,
    read: (value: string) => value.trim(),
    fault: (value: string) => fault(value.trim()),
  };
  return { rules, input: { required, ...input } };
}

/** A line of text. Browsers fill in none of it, unless it says what it is. */
export function textField(label: string, options: TextOptions = {}): Field<string> {
  const { rules, input } = trimmed(options);
  return { ...rules, draw: (bound) => <TextInput label={label} autoComplete="off" {...input} {...bound} /> };
}

/** A decimal string, such as a multiplier or an amount of money. */
export function amountField(label: string, options: TextOptions = {}): Field<string> {
  return textField(label, { inputMode: 'decimal', ...options });
}

/** An amount of credits, which it names at its end. */
export function creditsField(label: string, options: TextOptions = {}): Field<string> {
  return amountField(label, { rightSection: <CreditUnit />, rightSectionWidth: '4.5rem', ...options });
}

function CreditUnit() {
  const { t } = useTranslation('shell');
  return <Text size="sm">{t('creditUnit')}</Text>;
}

/** The same where nothing entered is sent as null. */
export function orNull(field: Field<string>): Field<string, string | null> {
  return { ...field, read: (value) => field.read(value) || null };
}

/** Some lines of text, which grow with what is written. */
export function linesField(label: string, options: LinesOptions = {}): Field<string> {
  const { rules, input } = trimmed(options);
  return { ...rules, draw: (bound) => <Textarea label={label} autosize minRows={2} {...input} {...bound} /> };
}

/** A password, sent as it is. */
export function passwordField(label: string, given: TextOptions): Field<string> {
  const { fault, options } = judged(given);
  const { field, input } = common('', options);
  return {
    ...field,
    read: (value) => value,
    fault,
    draw: (bound) => <Password label={label} {...input} {...bound} />,
  };
}

/** A moment from now on, entered in the viewer's zone and sent in UTC; null: none. */
export function momentField(label: string, options: TextOptions = {}): Field<string, string | null> {
  const min = localMinute(new Date());
  return {
    ...textField(label, { type: 'datetime-local', min, ...options }),
    read: (value) => (value === '' ? null : new Date(value).toISOString()),
  };
}
