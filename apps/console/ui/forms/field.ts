import type { ReactNode } from 'react';

/**
 * One field of a form, as a declaration: what it begins with, what is wrong with what was entered, what is sent of it, and how
 * it is drawn. `text`, `choice`, `count` and the others make them; `Form` shows them and sends what they read.
 */
export interface Field<Value, Sent = Value> {
  initial: Value;
  read(value: Value): Sent;
  /** What is said at the field; null: nothing is wrong. */
  fault(value: Value): string | null;
  /** @param input what connects the library's input with the form */
  draw(input: object): ReactNode;
  /** What the entered value brings with it, such as a hint about what was chosen. */
  below?(value: Value): ReactNode;
  /** Whether the library has it ticked rather than filled in. */
  isTicked?: boolean;
  /** Beside the field before or after it that is half as well. */
  isHalf?: boolean;
}

/** The fields of a form by the names that the server uses; it names them when it refuses one. */
export type FormFields = Record<string, Field<unknown, unknown>>;

export type Entered<F extends FormFields> = { [Name in keyof F]: F[Name]['initial'] };
export type Sent<F extends FormFields> = { [Name in keyof F]: ReturnType<F[Name]['read']> };

/** What a declaration says of a field, beside the properties of the library's input. */
export interface FieldOptions<Value> {
  initial?: Value;
  hint?: ReactNode;
  below?: (value: Value) => ReactNode;
  isHalf?: boolean;
  /** Has the focus when its form opens. */
  isFirst?: boolean;
}

/** The part of a declaration that all kinds of fields have in common, and what is left for the library's input. */
export function common<Value>(empty: Value, options: FieldOptions<Value>) {
  const { initial = empty, hint, below, isHalf, isFirst, ...rest } = options;
  const field = { initial, ...(below ? { below } : {}), ...(isHalf ? { isHalf } : {}) };
  const input: object = { ...rest, description: hint, 'data-autofocus': isFirst };
  return { field, input };
}
