import { type ButtonProps, Textarea } from '@mantine/core';
import type { ReactNode } from 'react';
import { ModalForm } from './modal-form.js';

interface ReasonActionProps extends ButtonProps {
  /** The button that asks, and the one that does: a verb, such as "Freeze the account". */
  label: string;
  title: string;
  /** What will happen, and what will not. */
  hint?: string;
  /** The same where it is more than a sentence. */
  children?: ReactNode;
  /** The server's name of the reason, what it is called here, and who reads it. */
  field: { name: string; label: string; hint: string };
  /** Said where nothing is written; a reason that has no such words may be left out. */
  missing?: string;
  act: (reason: string) => Promise<unknown>;
  isDangerous?: boolean;
}

const MOST_CHARS = 500;

/** A button for what is not done without saying why. It says what will happen, and shows what the server refuses. */
export function ReasonAction(props: ReasonActionProps) {
  const { label, title, hint, children = hint, field, missing, act, isDangerous = true, ...button } = props;
  const initial: Record<string, string> = { [field.name]: '' };
  const reasonOf = (values: Record<string, string>) => (values[field.name] ?? '').trim();
  return (
    <ModalForm
      label={label}
      title={title}
      hint={children}
      isDangerous={isDangerous}
      button={button}
      initial={initial}
      validate={(values) => (missing && !reasonOf(values) ? { [field.name]: missing } : {})}
      fields={(form) => (
        <Textarea
          label={field.label}
          description={field.hint}
          maxLength={MOST_CHARS}
          autosize
          minRows={2}
          required={missing !== undefined}
          data-autofocus
          {...form.getInputProps(field.name)}
        />
      )}
      send={(values) => act(reasonOf(values))}
    />
  );
}
