import { Textarea, type TextareaProps } from '@mantine/core';
import type { Field } from './field.js';
import { type TextRules, trimmed } from './text-fields.js';

type LinesOptions = TextRules & Omit<TextareaProps, keyof TextRules>;

/** Some lines of text, which grow with what is written. Sign-in and sign-up have none, so it is apart from other fields. */
export function linesField(label: string, options: LinesOptions = {}): Field<string> {
  const { rules, input } = trimmed(options);
  return { ...rules, draw: (bound) => <Textarea label={label} autosize minRows={2} {...input} {...bound} /> };
}
