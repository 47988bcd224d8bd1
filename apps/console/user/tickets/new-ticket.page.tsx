import { Button, Select, Text, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.js';
import { refresh } from '../../api/queries.js';
import { FormFault, useSend } from '../../ui/form.js';
import { Page } from '../../ui/page.js';
import { ticketKinds } from './ticket-state.js';

const route = getRouteApi('/user/tickets/new');
const MOST_SUBJECT_CHARS = 200;
const MOST_BODY_CHARS = 10_000;

type TicketValues = {
  kind: (typeof ticketKinds)[number];
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
  const { onSubmit, isSending, failure } = useSend({
    form,
    send: openTicket,
    done: async ({ id }) => {
      await refresh('/api/tickets');
      await navigate({ to: '/tickets/$ticketId', params: { ticketId: id } });
    },
  });
  const chosen = form.values.kind;
  return (
    <Page title={t('new.title')} about={t('new.about')} width={40}>
      <form onSubmit={onSubmit} noValidate className="stack">
        <Select
          label={t('new.kind')}
          data={ticketKinds.map((value) => ({ value, label: t(`kinds.${value}`) }))}
          allowDeselect={false}
          {...form.getInputProps('kind')}
        />
        <Text size="sm" c="dimmed">
          {t(`kindHints.${chosen}`)}
        </Text>
        <TextInput
          label={t('new.subject')}
          maxLength={MOST_SUBJECT_CHARS}
          required
          {...form.getInputProps('subject')}
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
        {(chosen === 'refund' || chosen === 'billing') && (
          <TextInput
            label={t('new.chargeId')}
            description={t('new.chargeHint')}
            required={chosen === 'refund'}
            {...form.getInputProps('chargeId')}
          />
        )}
        <FormFault failure={failure} />
        <Button type="submit" loading={isSending} w="fit-content">
          {t('new.submit')}
        </Button>
      </form>
    </Page>
  );
}
