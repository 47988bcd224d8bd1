import { Textarea } from '@mantine/core';
import type { FormErrors, UseFormReturnType } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { ModalForm, type ModalFormProps } from '../ui/forms/modal-form.js';

const SHORTEST = 3;
const LONGEST = 500;

interface NoteFieldProps<Values> {
  form: UseFormReturnType<Values>;
  label?: string | undefined;
}

/** Why something is done; the server wants some letters. */
export function NoteField<Values extends { note: string }>({ form, label }: NoteFieldProps<Values>) {
  const { t } = useTranslation('finance');
  return (
    <Textarea
      label={label ?? t('note.label')}
      required
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

type NoteActionProps<Answer> = Omit<ModalFormProps<{ note: string }, Answer>, 'initial' | 'fields'> & {
  noteLabel?: string;
};

/** A button of a row for what is done with nothing but a note that says why. */
export function NoteAction<Answer>({ noteLabel, ...action }: NoteActionProps<Answer>) {
  const check = useNoteCheck();
  return (
    <ModalForm
      button={{ size: 'xs' }}
      validate={check}
      {...action}
      initial={{ note: '' }}
      fields={(form) => <NoteField form={form} label={noteLabel} />}
    />
  );
}
