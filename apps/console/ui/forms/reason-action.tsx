import type { ButtonProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { ModalForm } from './modal-form.js';
import { linesField } from './text-fields.js';

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

/** The server takes no longer reason. */
export const MOST_REASON_CHARS = 500;

/** A button for what is not done without saying why. It says what will happen, and shows what the server refuses. */
export function ReasonAction(props: ReasonActionProps) {
  const { label, title, hint, children = hint, field, missing, act, isDangerous = true, ...button } = props;
  const reason = linesField(field.label, {
    hint: field.hint,
    maxLength: MOST_REASON_CHARS,
    missing,
    isFirst: true,
  });
  return (
    <ModalForm
      label={label}
      title={title}
      hint={children}
      isDangerous={isDangerous}
      button={button}
      fields={{ [field.name]: reason }}
      send={(values) => act(values[field.name] ?? '')}
    />
  );
}
