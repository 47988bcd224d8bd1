import { Button, type ButtonProps, Group } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { type ApiFailure, asFailure } from '../../api/failure.js';
import { FailureLine, useFieldText } from '../failure-text.js';
import { ErrorState } from '../states.js';

/** What is used of a form of the library's `useForm`. */
export interface SendableForm<Values> {
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
  /** Takes a failure for itself by answering true, such as the question for a one-time code. */
  refused?: (failure: ApiFailure) => boolean;
}

export interface Sending {
  onSubmit: (event?: FormEvent<HTMLFormElement>) => void;
  isSending: boolean;
  /** What no field is at fault for; show it by FormFault above the button. */
  failure: ApiFailure | null;
}

/**
 * Sends a form. What the server says about a field is shown at the field, which gets the focus, when the form has one of the
 * name; everything else is `failure`. Use it for every form, and give its fields the names that the server uses.
 */
export function useSend<Values extends Record<string, unknown>, Answer>(
  options: SendOptions<Values, Answer>,
): Sending {
  const { form, send, done, refused } = options;
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const errorOf = useFieldError();
  const mutation = useMutation({
    mutationFn: (values: Values) => send(values),
    onMutate: () => setFailure(null),
    onSuccess: (answer, values) => done(answer, values),
    onError: (error: unknown) => {
      const refusal = asFailure(error);
      if (refused?.(refusal)) return;
      const field = fieldOf(refusal, form.getValues());
      if (field === null) {
        setFailure(refusal);
        return;
      }
      form.setFieldError(field, errorOf(refusal));
      form.getInputNode(field)?.focus();
    },
  });
  return {
    onSubmit: form.onSubmit((values) => mutation.mutate(values)),
    isSending: mutation.isPending,
    failure,
  };
}

export interface SendFormProps {
  sending: Sending;
  /** The button that sends it: a verb. */
  submit: string;
  button?: ButtonProps;
  /** The button is as wide as the fields. */
  isWide?: boolean;
  /** Beside the button, such as another one that leaves the form. */
  aside?: ReactNode;
  children: ReactNode;
}

/** The fields of a form, what is wrong with it, and the button that sends it. */
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

/** The server names nested fields such as `limits.maxSeconds`; a form may have the inner one, or only the outer. */
function fieldOf(failure: ApiFailure, values: object): string | null {
  if (failure.param === null) return null;
  const [outer = '', inner = outer] = failure.param.split(/[.[]/);
  return [failure.param, outer, inner].find((name) => name in values) ?? null;
}

/** What a field is at fault for, in the language of the page where there are words for it. */
export function useFieldError(): (failure: ApiFailure) => ReactNode {
  const textOf = useFieldText();
  return (failure) => <FailureLine {...textOf(failure)} />;
}

/** What went wrong with a form, where no field is at fault. */
export function FormFault({ error }: { error: unknown }) {
  return error ? <ErrorState error={error} /> : null;
}
