import { useSearch, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api, refresh } from '../../api/client.js';
import { ticketTypes } from '../../api/enumerations.js';
import { choiceField } from '../../ui/forms/choice-fields.js';
import { Form } from '../../ui/forms/declared.js';
import { linesField } from '../../ui/forms/lines-field.js';
import { textField } from '../../ui/forms/text-fields.js';
import { PageFrame } from '../../ui/page.js';
import { Hint } from '../../ui/texts.js';

export default function NewTicketPage() {
  const { t } = useTranslation('tickets');
  return (
    <PageFrame title={t('new.title')} about={t('new.about')} width={40}>
      <TicketForm />
    </PageFrame>
  );
}

function useFields() {
  const { t } = useTranslation('tickets');
  const { kind = 'question', charge = '' } = useSearch({ from: '/user/tickets/new' });
  return {
    kind: choiceField(t('new.kind'), {
      initial: kind,
      of: ticketTypes,
      name: (type) => t(`kinds.${type}`),
      below: (type) => <Hint>{t(`kindHints.${type}`)}</Hint>,
    }),
    subject: textField(t('new.subject'), { missing: t('new.subjectMissing'), maxLength: 200 }),
    body: linesField(t('new.body'), {
      missing: t('new.bodyMissing'),
      minRows: 5,
      maxRows: 20,
      maxLength: 10_000,
    }),
    chargeId: textField(t('new.chargeId'), { initial: charge, hint: t('new.chargeHint') }),
  };
}

function TicketForm() {
  const { t } = useTranslation('tickets');
  const navigate = useNavigate();
  return (
    <Form
      fields={useFields()}
      hidden={({ kind }) => (kind === 'refund' || kind === 'billing' ? [] : ['chargeId'])}
      faults={({ kind, chargeId }) => ({
        chargeId: kind === 'refund' && chargeId.trim() === '' && t('new.chargeMissing'),
      })}
      submit={t('new.submit')}
      send={async ({ chargeId, ...ticket }) => {
        const body = { ...ticket, ...(chargeId ? { chargeId } : {}) };
        return (await api.POST('/api/tickets', { body })).data!;
      }}
      done={async ({ id }) => {
        await refresh('/api/tickets');
        await navigate({ to: '/tickets/$ticketId', params: { ticketId: id } });
      }}
    />
  );
}
