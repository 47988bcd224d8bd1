import { Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.js';
import { PasswordField } from '../ui/forms/fields.js';
import { SendForm, useSendForm } from '../ui/forms/form.js';
import { TextLink } from '../ui/links.js';
import { CodeField, EntrancePage, PASSWORD_LENGTH, useEntrance, useLinkToken } from './entrance.js';

/** Where the link of a password reset leads. */
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
  const go = useEntrance();
  const { form, sending } = useSendForm({
    mode: 'uncontrolled',
    initialValues: { password: '', code: '' },
    validate: {
      password: ({ length }) =>
        length < PASSWORD_LENGTH.min || length > PASSWORD_LENGTH.max
          ? t('fields.passwordLength', PASSWORD_LENGTH)
          : null,
      code: (value) => (asksCode && value.trim().length < 6 ? t('fields.codeInvalid') : null),
    },
    send: async ({ password, code }) => {
      const body = { token, password, ...(code.trim() ? { code: code.trim() } : {}) };
      return (await api.POST('/api/public/password-resets/confirm', { body })).data!;
    },
    done: go,
    refused: ({ code }) => {
      if (code !== 'totp_required') return false;
      setAsksCode(true);
      return true;
    },
  });
  return (
    <SendForm sending={sending} submit={t('reset.submit')} isWide>
      <PasswordField
        form={form}
        name="password"
        label={t('fields.newPassword')}
        description={t('fields.passwordLength', PASSWORD_LENGTH)}
        autoComplete="new-password"
      />
      {asksCode && <CodeField form={form} />}
    </SendForm>
  );
}
