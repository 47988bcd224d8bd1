import { Textarea } from '@mantine/core';
import { IconEye } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { beginView } from '../../shell/session.js';
import { TextField } from '../../ui/forms/fields.js';
import { ModalForm } from '../../ui/forms/modal-form.js';

const MOST_CHARS = 500;

/** Opens the console as a customer has it, for a reason that the customer reads. */
export function ViewAction({ accountId }: { accountId: string }) {
  const { t } = useTranslation('support');
  const navigate = useNavigate();
  const icon = <IconEye size={16} aria-hidden />;
  return (
    <ModalForm
      label={t('actions.see')}
      submit={t('actions.seeBegin')}
      title={t('actions.see')}
      hint={t('actions.seeHint')}
      button={{ variant: 'filled', leftSection: icon, title: t('actions.seeHint') }}
      initial={{ reason: '', ticketId: '' }}
      validate={({ reason }) => (reason.trim() ? {} : { reason: t('actions.reasonMissing') })}
      fields={(form) => (
        <>
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
          <TextField form={form} name="ticketId" label={t('actions.seeTicket')} />
        </>
      )}
      send={({ reason, ticketId }) =>
        beginView(accountId, { reason: reason.trim(), ticketId: ticketId.trim() || undefined })
      }
      done={() => navigate({ to: '/overview' })}
    />
  );
}
