import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.js';
import { refresh } from '../../api/queries.js';
import { notify } from '../../shell/notices.js';
import { PasswordField } from '../../ui/forms/fields.js';
import { SendForm, useSend } from '../../ui/forms/form.js';
import { PASSWORD_LENGTH } from '../../visitor/entrance.js';

/** A new password; it ends all other sessions. */
export function PasswordForm() {
  const { t } = useTranslation('account');
  const form = useForm({
    initialValues: { currentPassword: '', newPassword: '' },
    validate: {
      currentPassword: (value) => (value ? null : t('password.missing')),
      newPassword: ({ length }) =>
        length < PASSWORD_LENGTH.min || length > PASSWORD_LENGTH.max
          ? t('password.length', PASSWORD_LENGTH)
          : null,
    },
  });
  const sending = useSend({
    form,
    send: (body) => api.POST('/api/password', { body }),
    done: async () => {
      form.reset();
      notify(t('password.changed'));
      await refresh('/api/sessions');
    },
  });
  return (
    <SendForm sending={sending} submit={t('password.submit')}>
      <PasswordField
        form={form}
        name="currentPassword"
        label={t('password.current')}
        autoComplete="current-password"
        maw="26rem"
      />
      <PasswordField
        form={form}
        name="newPassword"
        label={t('password.new')}
        description={t('password.length', PASSWORD_LENGTH)}
        autoComplete="new-password"
        maw="26rem"
      />
    </SendForm>
  );
}
