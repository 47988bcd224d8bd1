import type { ReactNode } from 'react';

/**
 * Declares one field of a form: its initial value, its errors, what is sent, and how it is drawn. `textField`, `choiceField`
 * and the others make them; `Form` shows them and sends what they read.
 */
export interface Field<Value, Sent = Value> {
  initial: Value;
  read(value: Value): Sent;
  /** The error shown at the field, or null. */
  fault(value: Value): string | null;
  /** @param input what connects the library's input with the form */
  draw(input: object): ReactNode;
  /** Shown below the field, such as a hint about the chosen value. */
  below?(value: Value): ReactNode;
  /** Whether it is a checkbox to the library. */
  isTicked?: boolean;
  /** Shares a row with a neighbouring half. */
  isHalf?: boolean;
}

/** The fields of a form by their names on the server, which its errors refer to. */
export type FormFields = Record<string, Field<unknown, unknown>>;

export type Entered<F extends FormFields> = { [Name in keyof F]: F[Name]['initial'] };
export type Sent<F extends FormFields> = { [Name in keyof F]: ReturnType<F[Name]['read']> };

/** Options of a field, beside the properties of the library's input. */
export interface FieldOptions<Value> {
  initial?: Value;
  hint?: ReactNode;
  below?: (value: Value) => ReactNode;
  isHalf?: boolean;
  /** Has the focus when its form opens. */
  isFirst?: boolean;
}

/** What fields share: by default any value is valid and sent unchanged. `input` has the properties of the library's input. */
export function common<Value>(empty: Value, options: FieldOptions<Value>) {
  const { initial = empty, hint, below, isHalf, isFirst, ...rest } = options;
  const field = {
    initial,
    read: (value: Value) => value,
    fault: (): string | null => null,
    ...(below ? { below } : {}),
    ...(isHalf ? { isHalf } : {}),
  };
  const input: object = { ...rest, description: hint, 'data-autofocus': isFirst };
  return { field, input };
}
