import { Alert, Group } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.js';
import { Form } from '../ui/forms/declared.js';
import type { Sent } from '../ui/forms/field.js';
import { passwordField } from '../ui/forms/text-fields.js';
import { TextLink } from '../ui/links.js';
import { EntrancePage, useCode, useEmail, useEntrance } from './entrance.js';

export default function SignInPage() {
  const { t } = useTranslation('visitor');
  const { next, ended } = useSearch({ from: '/visitor/sign-in' });
  return (
    <EntrancePage title={t('signIn.title')}>
      {ended && <Alert color="blue">{t('signIn.ended')}</Alert>}
      <SignInForm next={next} />
      <Group justify="space-between">
        <TextLink to="/forgot-password" size="sm">
          {t('signIn.forgot')}
        </TextLink>
        <TextLink to="/sign-up" size="sm">
          {t('signIn.signUp')}
        </TextLink>
      </Group>
    </EntrancePage>
  );
}

function useCredentials() {
  const { t } = useTranslation('visitor');
  return {
    email: useEmail('username'),
    password: passwordField(t('fields.password'), {
      missing: t('fields.passwordMissing'),
      autoComplete: 'current-password',
    }),
    code: useCode(),
  };
}

async function signIn({ code, ...credentials }: Sent<ReturnType<typeof useCredentials>>, isKept: boolean) {
  const body = { ...credentials, ...(code && { code }), ...(isKept && { cancelDeletion: true }) };
  return (await api.POST('/api/public/sign-in', { body })).data!;
}

function SignInForm({ next }: { next: string | undefined }) {
  const { t } = useTranslation('visitor');
  const [asksCode, setAsksCode] = useState(false);
  const [isClosing, setClosing] = useState(false);
  return (
    <Form
      fields={useCredentials()}
      hidden={() => (asksCode ? [] : ['code'])}
      submit={t(isClosing ? 'signIn.keep' : 'signIn.submit')}
      isWide
      isShort
      foot={isClosing && <Alert color="orange">{t('signIn.closing')}</Alert>}
      // Sent again, it keeps an account that was about to be deleted.
      send={(values) => signIn(values, isClosing)}
      done={useEntrance(next)}
      refused={({ code }) => {
        if (code === 'totp_required') setAsksCode(true);
        if (code === 'account_closing') setClosing(true);
        // If the account can no longer be kept, the second refusal is shown.
        return code === 'totp_required' || (code === 'account_closing' && !isClosing);
      }}
    />
  );
}
