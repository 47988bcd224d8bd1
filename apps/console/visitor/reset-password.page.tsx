import { Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.js';
import { Form } from '../ui/forms/declared.js';
import { TextLink } from '../ui/links.js';
import { EntrancePage, useCode, useEntrance, useLinkToken, useNewPassword } from './entrance.js';

export function ResetPasswordPage() {
  const { t } = useTranslation('visitor');
  const token = useLinkToken();
  if (!token) {
    return (
      <EntrancePage title={t('reset.title')}>
        <Text>{t('reset.noToken')}</Text>
        <TextLink to="/forgot-password">{t('reset.again')}</TextLink>
      </EntrancePage>
    );
  }
  return (
    <EntrancePage title={t('reset.title')} about={t('reset.about')}>
      <ResetForm token={token} />
    </EntrancePage>
  );
}

function ResetForm({ token }: { token: string }) {
  const { t } = useTranslation('visitor');
  const [asksCode, setAsksCode] = useState(false);
  return (
    <Form
      fields={{ password: useNewPassword(), code: useCode() }}
      hidden={() => (asksCode ? [] : ['code'])}
      submit={t('reset.submit')}
      isWide
      isShort
      send={async ({ password, code }) => {
        const body = { token, password, ...(code ? { code } : {}) };
        return (await api.POST('/api/public/password-resets/confirm', { body })).data!;
      }}
      done={useEntrance()}
      refused={({ code }) => {
        if (code === 'totp_required') setAsksCode(true);
        return code === 'totp_required';
      }}
    />
  );
}
