import type { ButtonProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { type ActionTexts, ModalForm } from './modal-form.js';
import { linesField } from './lines-field.js';

interface ReasonActionProps extends ButtonProps {
  texts: ActionTexts;
  /** In place of the hint, if it is more than a sentence. */
  children?: ReactNode;
  /** The server's name of the reason, its label, and who reads it. */
  field: { name: string; label: string; hint: string };
  /** The error for an empty reason; without it, the reason is optional. */
  missing?: string;
  act: (reason: string) => Promise<unknown>;
  isDangerous?: boolean;
}

/** The server's limit. */
export const MOST_REASON_CHARS = 500;

/** A button for actions that need a reason. It says what will happen, and shows errors of the server. */
export function ReasonAction(props: ReasonActionProps) {
  const { texts, children, field, missing, act, isDangerous = true, ...button } = props;
  const reason = linesField(field.label, {
    hint: field.hint,
    maxLength: MOST_REASON_CHARS,
    missing,
    isFirst: true,
  });
  return (
    <ModalForm
      texts={texts}
      hint={children}
      isDangerous={isDangerous}
      button={button}
      fields={{ [field.name]: reason }}
      send={(values) => act(values[field.name] ?? '')}
    />
  );
}
