import { useTranslation } from 'react-i18next';
import { PageFrame, Section } from '../../ui/page.js';
import { Profile } from './profile.js';
import { Sessions } from './sessions.js';
import { Totp } from './totp.js';
import { api, refresh } from '../../api/client.js';
import { Form } from '../../ui/forms/declared.js';
import { passwordField } from '../../ui/forms/text-fields.js';
import { isPassword, PASSWORD_LENGTH } from '../../visitor/entrance.js';
import { useCurrentPassword } from './current-password.js';

export default function AccountPage() {
  const { t } = useTranslation('account');
  return (
    <PageFrame title={t('title')} width={56}>
      <Profile />
      <PasswordForm />
      <Totp />
      <Sessions />
    </PageFrame>
  );
}

/** A new password ends all other sessions. */
function PasswordForm() {
  const { t } = useTranslation('account');
  const said = t('password.length', PASSWORD_LENGTH);
  return (
    <Section title={t('password.title')}>
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
    </Section>
  );
}
