import { Alert, Group } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.js';
import { Form } from '../ui/forms/declared.js';
import { passwordField } from '../ui/forms/text-fields.js';
import { TextLink } from '../ui/links.js';
import { EntrancePage, useCode, useEmail, useEntrance } from './entrance.js';

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
      send={async ({ code, ...credentials }) => {
        // An account that was about to be deleted is kept.
        const body = { ...credentials, ...(code && { code }), ...(isClosing && { cancelDeletion: true }) };
        return (await api.POST('/api/public/sign-in', { body })).data!;
      }}
      done={useEntrance(next)}
      refused={({ code }) => {
        if (code === 'totp_required') setAsksCode(true);
        if (code === 'account_closing') setClosing(true);
        // Sent again for an account that can be kept no longer, the refusal itself is shown.
        return code === 'totp_required' || (code === 'account_closing' && !isClosing);
      }}
    />
  );
}
