import { useTranslation } from 'react-i18next';
import { type FieldsOf, MomentField, TextField } from '../../ui/forms/fields.js';

const MOST_NOTE_CHARS = 500;

interface ProposalFieldsProps<Values> {
  form: FieldsOf<Values>;
  flex?: string;
}

/** When a proposal takes effect, and why. */
export function ProposalFields<Values extends { effectiveAt: string; note: string }>(
  props: ProposalFieldsProps<Values>,
) {
  const { t } = useTranslation('prices');
  return (
    <>
      <MomentField
        name="effectiveAt"
        label={t('propose.effectiveAt')}
        description={t('propose.effectiveAtHint')}
        {...props}
      />
      <TextField
        name="note"
        label={t('propose.note')}
        description={t('propose.noteHint')}
        maxLength={MOST_NOTE_CHARS}
        {...props}
      />
    </>
  );
}
