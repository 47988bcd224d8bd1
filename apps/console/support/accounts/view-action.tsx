import { Button, Group, Modal, Text, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconEye } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { beginView } from '../../shell/session.js';
import { FormFault, useSend } from '../../ui/form.js';

const MOST_CHARS = 500;

/** Opens the console as a customer has it, for a reason that the customer reads. */
export function ViewAction({ accountId }: { accountId: string }) {
  const { t } = useTranslation('support');
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button
        leftSection={<IconEye size={16} aria-hidden />}
        onClick={() => setOpen(true)}
        title={t('actions.seeHint')}
      >
        {t('actions.see')}
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={t('actions.see')}
        closeButtonProps={{ 'aria-label': t('close', { ns: 'shell' }) }}
      >
        <ViewForm accountId={accountId} close={close} />
      </Modal>
    </>
  );
}

function ViewForm({ accountId, close }: { accountId: string; close: () => void }) {
  const { t } = useTranslation('support');
  const navigate = useNavigate();
  const form = useForm({
    initialValues: { reason: '', ticketId: '' },
    validate: { reason: (value) => (value.trim() ? null : t('actions.reasonMissing')) },
  });
  const { onSubmit, isSending, failure } = useSend({
    form,
    send: ({ reason, ticketId }) =>
      beginView(accountId, { reason: reason.trim(), ticketId: ticketId.trim() || undefined }),
    done: async () => {
      close();
      await navigate({ to: '/overview' });
    },
  });
  return (
    <form onSubmit={onSubmit} noValidate className="stack">
      <Text size="sm">{t('actions.seeHint')}</Text>
      <Textarea
        label={t('actions.reason')}
        description={t('actions.seeReasonHint')}
        maxLength={MOST_CHARS}
        autosize
        minRows={2}
        required
        data-autofocus
        {...form.getInputProps('reason')}
      />
      <TextInput label={t('actions.seeTicket')} {...form.getInputProps('ticketId')} />
      <FormFault failure={failure} />
      <Group justify="flex-end">
        <Button variant="default" onClick={close}>
          {t('confirm.cancel', { ns: 'shell' })}
        </Button>
        <Button type="submit" loading={isSending}>
          {t('actions.seeBegin')}
        </Button>
      </Group>
    </form>
  );
}
