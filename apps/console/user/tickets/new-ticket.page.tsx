import { Select, Textarea } from '@mantine/core';
import { useForm, UseFormReturnType } from '@mantine/form';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.js';
import { refresh } from '../../api/queries.js';
import { TextField } from '../../ui/forms/fields.js';
import { SendForm, useSend } from '../../ui/forms/form.js';
import { PageFrame } from '../../ui/page.js';
import { Hint } from '../../ui/texts.js';
import { ticketTypes } from '../../api/enumerations.js';

const route = getRouteApi('/user/tickets/new');
const MOST_SUBJECT_CHARS = 200;
const MOST_BODY_CHARS = 10_000;

type TicketValues = {
  kind: (typeof ticketTypes)[number];
  subject: string;
  body: string;
  chargeId: string;
};

async function openTicket({ chargeId, ...body }: TicketValues) {
  const about = chargeId.trim();
  const { data } = await api.POST('/api/tickets', {
    body: { ...body, ...(about ? { chargeId: about } : {}) },
  });
  return data!;
}

/** Asks support for something. */
export function NewTicketPage() {
  const { t } = useTranslation('tickets');
  return (
    <PageFrame title={t('new.title')} about={t('new.about')} width={40}>
      <TicketForm />
    </PageFrame>
  );
}

function TicketForm() {
  const { t } = useTranslation('tickets');
  const { kind = 'question', charge = '' } = route.useSearch();
  const navigate = useNavigate();
  const form = useForm<TicketValues>({
    initialValues: { kind, subject: '', body: '', chargeId: charge },
    validate: {
      subject: (value) => (value.trim() ? null : t('new.subjectMissing')),
      body: (value) => (value.trim() ? null : t('new.bodyMissing')),
      chargeId: (value, { kind: chosen }) =>
        chosen === 'refund' && !value.trim() ? t('new.chargeMissing') : null,
    },
  });
  const sending = useSend({
    form,
    send: openTicket,
    done: async ({ id }) => {
      await refresh('/api/tickets');
      await navigate({ to: '/tickets/$ticketId', params: { ticketId: id } });
    },
  });
  const chosen = form.values.kind;
  return (
    <SendForm sending={sending} submit={t('new.submit')}>
      <Select
        label={t('new.kind')}
        data={ticketTypes.map((value) => ({ value, label: t(`kinds.${value}`) }))}
        allowDeselect={false}
        {...form.getInputProps('kind')}
      />
      <Hint>{t(`kindHints.${chosen}`)}</Hint>
      <Words form={form} />
      {(chosen === 'refund' || chosen === 'billing') && (
        <TextField
          form={form}
          name="chargeId"
          label={t('new.chargeId')}
          description={t('new.chargeHint')}
          required={chosen === 'refund'}
        />
      )}
    </SendForm>
  );
}

function Words({ form }: { form: UseFormReturnType<TicketValues> }) {
  const { t } = useTranslation('tickets');
  return (
    <>
      <TextField
        form={form}
        name="subject"
        label={t('new.subject')}
        maxLength={MOST_SUBJECT_CHARS}
        required
      />
      <Textarea
        label={t('new.body')}
        autosize
        minRows={5}
        maxRows={20}
        maxLength={MOST_BODY_CHARS}
        required
        {...form.getInputProps('body')}
      />
    </>
  );
}
