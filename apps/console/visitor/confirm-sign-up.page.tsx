import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.js';
import { Form } from '../ui/forms/declared.js';
import { textField } from '../ui/forms/text-fields.js';
import { TextLink } from '../ui/links.js';
import { EntrancePage, useEntrance, useLinkToken, useNewPassword } from './entrance.js';

/** Where the link in the sign-up mail leads. */
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
  return (
    <Form
      fields={{
        name: textField(t('fields.name'), { hint: t('fields.nameHint'), autoComplete: 'name' }),
        password: useNewPassword(),
      }}
      submit={t('confirmSignUp.submit')}
      isWide
      isShort
      send={async ({ name, password }) => {
        const body = { token, password, ...(name ? { name } : {}) };
        return (await api.POST('/api/public/sign-ups/confirm', { body })).data!;
      }}
      done={useEntrance('/playground')}
    />
  );
}
