import { useTranslation } from 'react-i18next';
import type { Field } from '../ui/forms/field.js';
import { ModalForm, type ModalFormProps } from '../ui/forms/modal-form.js';
import { MOST_REASON_CHARS } from '../ui/forms/reason-action.js';
import { linesField } from '../ui/forms/lines-field.js';

const SHORTEST = 3;

/** Why something is done. */
export function useNote(label?: string): Field<string> {
  const { t } = useTranslation('finance');
  const isLongEnough = ({ length }: string) => length >= SHORTEST;
  return linesField(label ?? t('note.label'), {
    rule: [isLongEnough, t('note.missing')],
    maxLength: MOST_REASON_CHARS,
  });
}

type Note = Record<'note', Field<string>>;
type NoteActionProps<Answer> = Omit<ModalFormProps<Note, Answer>, 'fields'> & { noteLabel?: string };

/** A row button for an action that only needs a note. */
export function NoteAction<Answer>({ noteLabel, ...action }: NoteActionProps<Answer>) {
  return <ModalForm button={{ size: 'xs' }} {...action} fields={{ note: useNote(noteLabel) }} />;
}
