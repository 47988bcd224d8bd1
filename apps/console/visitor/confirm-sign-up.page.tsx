import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.js';
import { PasswordField, TextField } from '../ui/forms/fields.js';
import { SendForm, useSendForm } from '../ui/forms/form.js';
import { TextLink } from '../ui/links.js';
import { EntrancePage, PASSWORD_LENGTH, useEntrance, useLinkToken } from './entrance.js';

/** Where the link of a sign-up leads: choose a password, and be in. */
export function ConfirmSignUpPage() {
  const { t } = useTranslation('visitor');
  const token = useLinkToken();
  if (!token) {
    return (
      <EntrancePage title={t('confirmSignUp.title')}>
        <Text>{t('confirmSignUp.noToken')}</Text>
        <TextLink to="/sign-up">{t('confirmSignUp.again')}</TextLink>
      </EntrancePage>
    );
  }
  return (
    <EntrancePage title={t('confirmSignUp.title')} about={t('confirmSignUp.about')}>
      <ConfirmForm token={token} />
    </EntrancePage>
  );
}

function ConfirmForm({ token }: { token: string }) {
  const { t } = useTranslation('visitor');
  const go = useEntrance();
  const { form, sending } = useSendForm({
    mode: 'uncontrolled',
    initialValues: { name: '', password: '' },
    validate: {
      password: ({ length }) =>
        length < PASSWORD_LENGTH.min || length > PASSWORD_LENGTH.max
          ? t('fields.passwordLength', PASSWORD_LENGTH)
          : null,
    },
    send: async ({ name, password }) => {
      const body = { token, password, ...(name.trim() ? { name: name.trim() } : {}) };
      return (await api.POST('/api/public/sign-ups/confirm', { body })).data!;
    },
    done: go,
  });
  return (
    <SendForm sending={sending} submit={t('confirmSignUp.submit')} isWide>
      <TextField
        form={form}
        name="name"
        label={t('fields.name')}
        description={t('fields.nameHint')}
        autoComplete="name"
      />
      <PasswordField
        form={form}
        name="password"
        label={t('fields.newPassword')}
        description={t('fields.passwordLength', PASSWORD_LENGTH)}
        autoComplete="new-password"
      />
    </SendForm>
  );
}
