import { useTranslation } from 'react-i18next';
import { momentField, textField } from '../../ui/forms/text-fields.js';

const MOST_NOTE_CHARS = 500;

interface ProposalFieldsProps {
  form: { getInputProps: (name: 'effectiveAt' | 'note') => object };
  flex?: string;
}

/** When a proposal takes effect, and why. */
export function ProposalFields({ form, ...layout }: ProposalFieldsProps) {
  const { t } = useTranslation('prices');
  const at = { hint: t('propose.effectiveAtHint'), ...layout };
  const note = { hint: t('propose.noteHint'), maxLength: MOST_NOTE_CHARS, ...layout };
  return (
    <>
      {momentField(t('propose.effectiveAt'), at).draw(form.getInputProps('effectiveAt'))}
      {textField(t('propose.note'), note).draw(form.getInputProps('note'))}
    </>
  );
}
