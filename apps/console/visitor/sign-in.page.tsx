import { Alert, Group } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.js';
import { PasswordField, TextField } from '../ui/forms/fields.js';
import { SendForm, useSendForm } from '../ui/forms/form.js';
import { TextLink } from '../ui/links.js';
import { CodeField, EMAIL, EntrancePage, useEntrance } from './entrance.js';

const route = getRouteApi('/visitor/sign-in');

/** E-mail and password, and the code of a device where one is enrolled. */
export function SignInPage() {
  const { t } = useTranslation('visitor');
  const { next, ended } = route.useSearch();
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

interface Credentials {
  email: string;
  password: string;
  code: string;
}

/** @param isClosing keeps an account that was about to be deleted */
async function signIn({ email, password, code }: Credentials, isClosing: boolean) {
  const body = {
    email,
    password,
    ...(code.trim() ? { code: code.trim() } : {}),
    ...(isClosing ? { cancelDeletion: true } : {}),
  };
  return (await api.POST('/api/public/sign-in', { body })).data!;
}

function SignInForm({ next }: { next: string | undefined }) {
  const { t } = useTranslation('visitor');
  const [asksCode, setAsksCode] = useState(false);
  const [isClosing, setClosing] = useState(false);
  const go = useEntrance(next);
  const { form, sending } = useSendForm({
    mode: 'uncontrolled',
    initialValues: { email: '', password: '', code: '' },
    validate: {
      email: (value) => (EMAIL.test(value.trim()) ? null : t('fields.emailInvalid')),
      password: (value) => (value ? null : t('fields.passwordMissing')),
      code: (value) => (asksCode && value.trim().length < 6 ? t('fields.codeInvalid') : null),
    },
    send: (values) => signIn(values, isClosing),
    done: go,
    refused: ({ code }) => {
      if (code === 'totp_required') setAsksCode(true);
      if (code === 'account_closing') setClosing(true);
      // Sent again for an account that can be kept no longer, the refusal itself is shown.
      return code === 'totp_required' || (code === 'account_closing' && !isClosing);
    },
  });
  return (
    <SendForm sending={sending} submit={t(isClosing ? 'signIn.keep' : 'signIn.submit')} isWide>
      <TextField
        form={form}
        name="email"
        label={t('fields.email')}
        type="email"
        autoComplete="username"
        required
      />
      <PasswordField
        form={form}
        name="password"
        label={t('fields.password')}
        autoComplete="current-password"
      />
      {asksCode && <CodeField form={form} />}
      {isClosing && <Alert color="orange">{t('signIn.closing')}</Alert>}
    </SendForm>
  );
}
