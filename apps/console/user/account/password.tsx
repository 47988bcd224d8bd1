import { useTranslation } from 'react-i18next';
import { api, refresh } from '../../api/client.js';
import { Form } from '../../ui/forms/declared.js';
import { passwordField } from '../../ui/forms/text-fields.js';
import { isPassword, PASSWORD_LENGTH } from '../../visitor/entrance.js';
import { useCurrentPassword } from './current-password.js';

/** A new password ends all other sessions. */
export function PasswordForm() {
  const { t } = useTranslation('account');
  const said = t('password.length', PASSWORD_LENGTH);
  return (
    <Form
      fields={{
        currentPassword: useCurrentPassword({ maw: '26rem' }),
        newPassword: passwordField(t('password.new'), {
          hint: said,
          rule: [isPassword, said],
          autoComplete: 'new-password',
          maw: '26rem',
        }),
      }}
      submit={t('password.submit')}
      isRepeated
      send={(body) => api.POST('/api/password', { body })}
      reread={() => refresh('/api/sessions')}
      success={() => t('password.changed')}
    />
  );
}
