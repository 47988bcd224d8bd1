import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { type ApiFailure, asFailure } from '../api/failure.js';
import { useFieldText } from './failure-text.js';
import { ErrorState } from './states.js';

/** What is used of a form of the library's `useForm`. */
interface SendableForm<Values> {
  onSubmit: (handle: (values: Values) => void) => (event?: FormEvent<HTMLFormElement>) => void;
  setFieldError: (field: never, error: ReactNode) => void;
  getValues: () => Values;
  getInputNode: (field: never) => HTMLElement | null;
}

interface SendOptions<Values, Answer> {
  form: SendableForm<Values>;
  /** Calls the server; it throws ApiFailure. */
  send: (values: Values) => Promise<Answer>;
  done: (answer: Answer, values: Values) => unknown;
  /** Takes a failure for itself by answering true, such as the question for a one-time code. */
  refused?: (failure: ApiFailure) => boolean;
}

interface Sending {
  onSubmit: (event?: FormEvent<HTMLFormElement>) => void;
  isSending: boolean;
  /** What no field is at fault for; show it by FormFault above the button. */
  failure: ApiFailure | null;
}

/**
 * Sends a form. What the server says of a field stands at the field, which gets the focus, when the form has one of the
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
      form.setFieldError(field as never, errorOf(refusal));
      form.getInputNode(field as never)?.focus();
    },
  });
  return {
    onSubmit: form.onSubmit((values) => mutation.mutate(values)),
    isSending: mutation.isPending,
    failure,
  };
}

/** The server names nested fields such as `details.name`; a form that has only `details` shows it there. */
function fieldOf(failure: ApiFailure, values: object): string | null {
  if (failure.param === null) return null;
  if (failure.param in values) return failure.param;
  const [outer = ''] = failure.param.split(/[.[]/);
  return outer in values ? outer : null;
}

/** What a field is at fault for, in the language of the page where there are words for it. */
export function useFieldError(): (failure: ApiFailure) => ReactNode {
  const textOf = useFieldText();
  return (failure) => {
    const { text, details } = textOf(failure);
    if (details === null) return text;
    return (
      <>
        {text} <span lang="en">{details}</span>
      </>
    );
  };
}

/** What went wrong with a form, where no field is at fault. */
export function FormFault({ failure }: { failure: ApiFailure | null }) {
  return failure && <ErrorState error={failure} />;
}
