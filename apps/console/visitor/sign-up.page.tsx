import { Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.js';
import type { Language } from '../i18n/i18n.js';
import { TextField } from '../ui/forms/fields.js';
import { SendForm, useSendForm } from '../ui/forms/form.js';
import { TextLink } from '../ui/links.js';
import { EMAIL, EntrancePage } from './entrance.js';

const route = getRouteApi('/visitor/sign-up');

/** Asks for a link by mail. The answer does not reveal whether the address has an account. */
export function SignUpPage() {
  const { t } = useTranslation('visitor');
  const [sentTo, setSentTo] = useState<string | null>(null);
  if (sentTo !== null) {
    return (
      <EntrancePage title={t('mailSent.title')}>
        <Text>{t('mailSent.signUp', { email: sentTo })}</Text>
      </EntrancePage>
    );
  }
  return (
    <EntrancePage title={t('signUp.title')} about={t('signUp.about')}>
      <SignUpForm done={setSentTo} />
      <TextLink to="/sign-in" size="sm">
        {t('signUp.signIn')}
      </TextLink>
      <TextLink to="/retention" size="sm">
        {t('signUp.retention')}
      </TextLink>
    </EntrancePage>
  );
}

function SignUpForm({ done }: { done: (email: string) => void }) {
  const { t, i18n } = useTranslation('visitor');
  const { invite = '' } = route.useSearch();
  const { form, sending } = useSendForm({
    mode: 'uncontrolled',
    initialValues: { email: '', inviteCode: invite },
    validate: { email: (value) => (EMAIL.test(value.trim()) ? null : t('fields.emailInvalid')) },
    send: async ({ email, inviteCode }) => {
      const code = inviteCode.trim();
      const language = i18n.language as Language;
      await api.POST('/api/public/sign-ups', {
        body: { email, language, ...(code ? { inviteCode: code } : {}) },
      });
    },
    done: (_answer, { email }) => done(email.trim()),
  });
  return (
    <SendForm sending={sending} submit={t('signUp.submit')} isWide>
      <TextField
        form={form}
        name="email"
        label={t('fields.email')}
        type="email"
        autoComplete="email"
        required
      />
      <TextField
        form={form}
        name="inviteCode"
        label={t('fields.inviteCode')}
        description={t('fields.inviteCodeHint')}
      />
    </SendForm>
  );
}
