import { Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.js';
import { Form } from '../ui/forms/declared.js';
import { TextLink } from '../ui/links.js';
import { EntrancePage, useEmail } from './entrance.js';

/** The answer does not reveal whether the address has an account. */
export default function ForgotPasswordPage() {
  const { t } = useTranslation('visitor');
  const [sentTo, setSentTo] = useState<string | null>(null);
  if (sentTo !== null) {
    return (
      <EntrancePage title={t('mailSent.title')}>
        <Text>{t('mailSent.reset', { email: sentTo })}</Text>
      </EntrancePage>
    );
  }
  return (
    <EntrancePage title={t('forgot.title')} about={t('forgot.about')}>
      <ForgotForm done={setSentTo} />
      <TextLink to="/sign-in" size="sm">
        {t('forgot.signIn')}
      </TextLink>
    </EntrancePage>
  );
}

function ForgotForm({ done }: { done: (email: string) => void }) {
  const { t } = useTranslation('visitor');
  return (
    <Form
      fields={{ email: useEmail('username') }}
      submit={t('forgot.submit')}
      isWide
      isShort
      send={(body) => api.POST('/api/public/password-resets', { body })}
      done={(_answer, { email }) => done(email)}
    />
  );
}
