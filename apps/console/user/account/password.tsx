import { Button } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.js';
import { refresh } from '../../api/queries.js';
import { tell } from '../../shell/notices.js';
import { FormFault, useSend } from '../../ui/form.js';
import { PasswordField } from '../../ui/password-field.js';
import { PASSWORD_CHARS } from '../../visitor/entrance.js';

/** A new password; it ends all other sessions. */
export function PasswordForm() {
  const { t } = useTranslation('account');
  const form = useForm({
    initialValues: { currentPassword: '', newPassword: '' },
    validate: {
      currentPassword: (value) => (value ? null : t('password.missing')),
      newPassword: ({ length }) =>
        length < PASSWORD_CHARS.min || length > PASSWORD_CHARS.max
          ? t('password.length', PASSWORD_CHARS)
          : null,
    },
  });
  const { onSubmit, isSending, failure } = useSend({
    form,
    send: (body) => api.POST('/api/password', { body }),
    done: async () => {
      form.reset();
      tell(t('password.changed'));
      await refresh('/api/sessions');
    },
  });
  const toggle = { 'aria-label': t('password.show') };
  return (
    <form onSubmit={onSubmit} noValidate className="stack">
      <PasswordField
        label={t('password.current')}
        autoComplete="current-password"
        required
        maw="26rem"
        visibilityToggleButtonProps={toggle}
        {...form.getInputProps('currentPassword')}
      />
      <PasswordField
        label={t('password.new')}
        description={t('password.length', PASSWORD_CHARS)}
        autoComplete="new-password"
        required
        maw="26rem"
        visibilityToggleButtonProps={toggle}
        {...form.getInputProps('newPassword')}
      />
      <FormFault failure={failure} />
      <Button type="submit" loading={isSending} w="fit-content">
        {t('password.submit')}
      </Button>
    </form>
  );
}
