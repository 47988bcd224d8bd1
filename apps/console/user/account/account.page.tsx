import { useTranslation } from 'react-i18next';
import { PageFrame, Section } from '../../ui/page.js';
import { PasswordForm } from './password.js';
import { Profile } from './profile.js';
import { Sessions } from './sessions.js';
import { Totp } from './totp.js';

export function AccountPage() {
  const { t } = useTranslation('account');
  return (
    <PageFrame title={t('title')} width={56}>
      <Section title={t('profile.title')}>
        <Profile />
      </Section>
      <Section title={t('password.title')}>
        <PasswordForm />
      </Section>
      <Section title={t('totp.title')}>
        <Totp />
      </Section>
      <Section title={t('sessions.title')}>
        <Sessions />
      </Section>
    </PageFrame>
  );
}
