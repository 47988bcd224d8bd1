import { IconEye } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { beginView } from '../../shell/session.js';
import { ModalForm } from '../../ui/forms/modal-form.js';
import { MOST_REASON_CHARS } from '../../ui/forms/reason-action.js';
import { linesField } from '../../ui/forms/lines-field.js';
import { textField } from '../../ui/forms/text-fields.js';

/** Opens the console as the customer sees it, for a reason that the customer can read. */
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
      fields={{
        reason: linesField(t('actions.reason'), {
          hint: t('actions.seeReasonHint'),
          missing: t('actions.reasonMissing'),
          maxLength: MOST_REASON_CHARS,
          isFirst: true,
        }),
        ticketId: textField(t('actions.seeTicket')),
      }}
      send={({ reason, ticketId }) => beginView(accountId, { reason, ticketId: ticketId || undefined })}
      done={() => navigate({ to: '/overview' })}
    />
  );
}
