import { Button, type ButtonProps, Group, Modal, Stack, Text, Textarea } from '@mantine/core';
import { type FormErrors, useForm, type UseFormReturnType } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { newRequestId } from '../api/queries.js';
import { FormFault, useSend } from '../ui/form.js';

export interface ModalFormProps<Values extends Record<string, unknown>, Answer> {
  /** The button that opens the form, and the one that sends it: a verb. */
  label: string;
  title: string;
  /** What will happen. */
  hint: ReactNode;
  initial: Values;
  validate?: (values: Values) => FormErrors;
  fields: (form: UseFormReturnType<Values>) => ReactNode;
  /** The request id is the same as long as the form is open. */
  send: (values: Values, requestId: string) => Promise<Answer>;
  done: (answer: Answer) => unknown;
  isDangerous?: boolean;
  button?: ButtonProps;
}

/** A button for what needs some words first, such as why: it says what will happen, and does it once however often it is sent. */
export function ModalForm<Values extends Record<string, unknown>, Answer>(
  props: ModalFormProps<Values, Answer>,
) {
  const { t } = useTranslation('shell');
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button variant="default" {...props.button} onClick={open}>
        {props.label}
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={props.title}
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        <Body {...props} close={close} />
      </Modal>
    </>
  );
}

function Body<Values extends Record<string, unknown>, Answer>({
  label,
  hint,
  initial,
  validate,
  fields,
  send,
  done,
  isDangerous = false,
  close,
}: ModalFormProps<Values, Answer> & { close: () => void }) {
  const { t } = useTranslation('shell');
  const [requestId] = useState(newRequestId);
  const form = useForm<Values>({ initialValues: initial, ...(validate ? { validate } : {}) });
  const { onSubmit, isSending, failure } = useSend({
    form: form,
    send: (values: Values) => send(values, requestId),
    done: async (answer: Answer) => {
      await done(answer);
      close();
    },
  });
  return (
    <form onSubmit={onSubmit} noValidate className="stack">
      <Text size="sm" component="div">
        {hint}
      </Text>
      <Stack gap="sm">{fields(form)}</Stack>
      <FormFault failure={failure} />
      <Group justify="flex-end">
        <Button variant="default" onClick={close}>
          {t('confirm.cancel')}
        </Button>
        <Button type="submit" loading={isSending} {...(isDangerous ? { color: 'red' } : {})}>
          {label}
        </Button>
      </Group>
    </form>
  );
}

const SHORTEST = 3;
const LONGEST = 500;

/** Why something is done; the server wants some letters. */
export function NoteField<Values extends { note: string }>({
  form,
  label,
  isOptional = false,
}: {
  form: UseFormReturnType<Values>;
  label?: string;
  isOptional?: boolean;
}) {
  const { t } = useTranslation('finance');
  return (
    <Textarea
      label={label ?? t('note.label')}
      required={!isOptional}
      autosize
      minRows={2}
      maxLength={LONGEST}
      {...form.getInputProps('note')}
    />
  );
}

/** What `validate` of a form with a note begins with. */
export function useNoteCheck(): (values: { note: string }) => FormErrors {
  const { t } = useTranslation('finance');
  return ({ note }) => (note.trim().length < SHORTEST ? { note: t('note.missing') } : {});
}
