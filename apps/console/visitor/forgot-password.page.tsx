import { Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.js';
import { TextField } from '../ui/forms/fields.js';
import { SendForm, useSendForm } from '../ui/forms/form.js';
import { TextLink } from '../ui/links.js';
import { EMAIL, EntrancePage } from './entrance.js';

/** Asks for a link to set a new password. The answer does not reveal whether the address has an account. */
export function ForgotPasswordPage() {
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
        {t('signUp.signIn')}
      </TextLink>
    </EntrancePage>
  );
}

function ForgotForm({ done }: { done: (email: string) => void }) {
  const { t } = useTranslation('visitor');
  const { form, sending } = useSendForm({
    mode: 'uncontrolled',
    initialValues: { email: '' },
    validate: { email: (value) => (EMAIL.test(value.trim()) ? null : t('fields.emailInvalid')) },
    send: async ({ email }) => {
      await api.POST('/api/public/password-resets', { body: { email } });
    },
    done: (_answer, { email }) => done(email.trim()),
  });
  return (
    <SendForm sending={sending} submit={t('forgot.submit')} isWide>
      <TextField
        form={form}
        name="email"
        label={t('fields.email')}
        type="email"
        autoComplete="username"
        required
      />
    </SendForm>
  );
}
