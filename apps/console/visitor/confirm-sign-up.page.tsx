import { Button, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.js';
import { FormFault, useSend } from '../ui/form.js';
import { EntrancePage, PASSWORD_CHARS, useEntrance, useLinkToken } from './entrance.js';
import { TextLink } from '../ui/links.js';
import { PasswordField } from '../ui/password-field.js';

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
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { name: '', password: '' },
    validate: {
      password: ({ length }) =>
        length < PASSWORD_CHARS.min || length > PASSWORD_CHARS.max
          ? t('fields.passwordLength', PASSWORD_CHARS)
          : null,
    },
  });
  const { onSubmit, isSending, failure } = useSend({
    form,
    send: async ({ name, password }) => {
      const body = { token, password, ...(name.trim() ? { name: name.trim() } : {}) };
      return (await api.POST('/api/public/sign-ups/confirm', { body })).data!;
    },
    done: go,
  });
  return (
    <form onSubmit={onSubmit} noValidate className="stack">
      <TextInput
        label={t('fields.name')}
        description={t('fields.nameHint')}
        autoComplete="name"
        key={form.key('name')}
        {...form.getInputProps('name')}
      />
      <PasswordField
        label={t('fields.newPassword')}
        description={t('fields.passwordLength', PASSWORD_CHARS)}
        autoComplete="new-password"
        required
        visibilityToggleButtonProps={{ 'aria-label': t('fields.showPassword') }}
        key={form.key('password')}
        {...form.getInputProps('password')}
      />
      <FormFault failure={failure} />
      <Button type="submit" loading={isSending} fullWidth>
        {t('confirmSignUp.submit')}
      </Button>
    </form>
  );
}
