import { useTranslation } from 'react-i18next';
import { api, refresh } from '../../api/client.js';
import { notify } from '../../shell/notices.js';
import { ConfirmAction } from '../../ui/forms/confirm-action.js';
import { MOST_REASON_CHARS, ReasonAction } from '../../ui/forms/reason-action.js';
import type { AccountRecord } from './found-account.js';
import { IconEye } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { beginView } from '../../shell/session.js';
import { ModalForm } from '../../ui/forms/modal-form.js';
import { linesField } from '../../ui/forms/lines-field.js';
import { textField } from '../../ui/forms/text-fields.js';

/** Actions on an account. Money is moved by tickets and by finance. */
export function AccountActions({ found: { account, person } }: { found: AccountRecord }) {
  const { t } = useTranslation('support');
  const params = { path: { accountId: account.accountId } };
  const endSessions = async () => {
    const { data } = await api.DELETE('/api/support/accounts/{accountId}/sessions', { params });
    notify(t('actions.sessionsEnded', { count: data!.revoked }));
  };
  return (
    <>
      <ViewAction accountId={account.accountId} />
      {account.frozen === null ? <Freeze account={account} /> : <Unfreeze account={account} />}
      {person !== null && <ConfirmAction texts={t('actions.endSessions')} act={endSessions} />}
    </>
  );
}

interface OfAccount {
  account: AccountRecord['account'];
}

function reread(): Promise<void> {
  return refresh('/api/support/accounts', '/api/support/accounts/{accountId}', '/api/admin/audit-log');
}

function Freeze({ account: { accountId, name } }: OfAccount) {
  const { t } = useTranslation('support');
  return (
    <ReasonAction
      texts={t('actions.freeze', { name })}
      field={{ name: 'reason', label: t('actions.reason'), hint: t('actions.reasonHint') }}
      missing={t('actions.reasonMissing')}
      act={async (reason) => {
        const params = { path: { accountId } };
        await api.POST('/api/support/accounts/{accountId}/freeze', { params, body: { reason } });
        await reread();
      }}
    />
  );
}

function Unfreeze({ account: { accountId, name, frozen } }: OfAccount) {
  const { t } = useTranslation('support');
  if (frozen?.reason === 'debt') return null;
  return (
    <ReasonAction
      texts={t('actions.unfreeze', { name })}
      field={{ name: 'note', label: t('actions.note'), hint: t('actions.noteHint') }}
      missing={t('actions.reasonMissing')}
      isDangerous={false}
      act={async (note) => {
        const params = { path: { accountId } };
        await api.POST('/api/support/accounts/{accountId}/unfreeze', { params, body: { note } });
        await reread();
      }}
    />
  );
}

/** Opens the console as the customer sees it, for a reason that the customer can read. */
function ViewAction({ accountId }: { accountId: string }) {
  const { t } = useTranslation('support');
  const navigate = useNavigate();
  const texts = t('actions.see');
  const icon = <IconEye size={16} aria-hidden />;
  return (
    <ModalForm
      texts={texts}
      button={{ variant: 'filled', leftSection: icon, title: texts.hint }}
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
