import { Button, type ButtonProps, Group } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type ApiFailure, asFailure } from '../../api/failure.js';
import { FailureLine, useFieldText } from '../failure-text.js';
import { ErrorState } from '../states.js';

/** What we use of the library's `useForm`. */
interface SendableForm<Values> {
  onSubmit: (handle: (values: Values) => void) => (event?: FormEvent<HTMLFormElement>) => void;
  setFieldError: (field: string, error: ReactNode) => void;
  getValues: () => Values;
  getInputNode: (field: string) => HTMLElement | null;
}

export interface SendOptions<Values, Answer> {
  form: SendableForm<Values>;
  /** Calls the server; it throws ApiFailure. */
  send: (values: Values) => Promise<Answer>;
  done: (answer: Answer, values: Values) => unknown;
  /** Returns true if it handles the failure, such as by asking for a one-time code. */
  refused?: (failure: ApiFailure) => boolean;
}

export interface Sending {
  onSubmit: (event?: FormEvent<HTMLFormElement>) => void;
  isSending: boolean;
  /** A failure that belongs to no field; show it with FormFault above the button. */
  failure: ApiFailure | null;
}

/**
 * Sends a form. An error about a field is shown at that field, which gets the focus; any other is `failure`. Use it for
 * every form, and name its fields as the server does.
 */
export function useSend<Values extends Record<string, unknown>, Answer>(
  options: SendOptions<Values, Answer>,
): Sending {
  const { form, send, done, refused } = options;
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const showAtField = useFieldFault(form);
  const mutation = useMutation({
    mutationFn: (values: Values) => send(values),
    onMutate: () => setFailure(null),
    onSuccess: (answer, values) => done(answer, values),
    onError: (error: unknown) => {
      const refusal = asFailure(error);
      if (!refused?.(refusal) && !showAtField(refusal)) setFailure(refusal);
    },
  });
  const submit = form.onSubmit((values) => mutation.mutate(values));
  const showIncomplete = useIncomplete(form);
  return {
    onSubmit: (event) => {
      if (!showIncomplete(event)) submit(event);
    },
    isSending: mutation.isPending,
    failure,
  };
}

/**
 * Browsers give a half-entered date and time as an empty value. Sent as nothing entered, it would mean "at once" or "never", so
 * its field says what is missing; false if there is no such field.
 */
function useIncomplete(
  form: Pick<SendableForm<unknown>, 'setFieldError'>,
): (event?: FormEvent<HTMLFormElement>) => boolean {
  const { t } = useTranslation('shell');
  return (event) => {
    const inputs = event?.currentTarget.querySelectorAll<HTMLInputElement>('input[data-path]') ?? [];
    const incomplete = [...inputs].find(({ validity }) => validity.badInput);
    if (incomplete === undefined) return false;
    event?.preventDefault();
    form.setFieldError(incomplete.dataset['path'] ?? '', t('failure.fields.incomplete'));
    incomplete.focus();
    return true;
  };
}

/** Shows a failure at its field; false if the form has no such field. */
function useFieldFault<Values extends object>(form: SendableForm<Values>): (failure: ApiFailure) => boolean {
  const errorOf = useFieldError();
  return (failure) => {
    const field = fieldOf(failure, form.getValues());
    if (field === null) return false;
    form.setFieldError(field, errorOf(failure));
    form.getInputNode(field)?.focus();
    return true;
  };
}

export interface SendFormProps {
  sending: Sending;
  /** The button that sends it: a verb. */
  submit: string;
  button?: ButtonProps;
  /** The button is as wide as the fields. */
  isWide?: boolean;
  /** Beside the button, such as one that cancels. */
  aside?: ReactNode;
  children: ReactNode;
}

/** A form with its fields, its error and its button. */
export function SendForm({ sending, submit, button = {}, isWide = false, aside, children }: SendFormProps) {
  const width = isWide || aside ? {} : { w: 'fit-content' };
  const send = (
    <Button type="submit" loading={sending.isSending} {...width} {...button}>
      {submit}
    </Button>
  );
  return (
    <form onSubmit={sending.onSubmit} noValidate className="stack">
      {children}
      <FormFault error={sending.failure} />
      {aside ? (
        <Group justify="flex-end">
          {aside}
          {send}
        </Group>
      ) : (
        send
      )}
    </form>
  );
}

/** The server names nested fields, such as `limits.maxSeconds`; a form may have the inner or the outer one. */
function fieldOf(failure: ApiFailure, values: object): string | null {
  if (failure.param === null) return null;
  const [outer = '', inner = outer] = failure.param.split(/[.[]/);
  return [failure.param, outer, inner].find((name) => name in values) ?? null;
}

/** The error of a field, translated if possible. */
export function useFieldError(): (failure: ApiFailure) => ReactNode {
  const textOf = useFieldText();
  return (failure) => <FailureLine {...textOf(failure)} />;
}

/** A form's error that belongs to no field. */
export function FormFault({ error }: { error: unknown }) {
  return error ? <ErrorState error={error} /> : null;
}
