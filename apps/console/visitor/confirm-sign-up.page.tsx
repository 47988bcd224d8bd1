import { useTranslation } from 'react-i18next';
import { api } from '../api/client.js';
import { Form } from '../ui/forms/declared.js';
import { textField } from '../ui/forms/text-fields.js';
import { useEntrance, useNewPassword } from './entrance.js';
import { LinkPage } from './link-page.js';

/** Where the link in the sign-up mail leads. */
export default function ConfirmSignUpPage() {
  const { t } = useTranslation('visitor');
  return <LinkPage texts={t('confirmSignUp')} again="/sign-up" form={ConfirmForm} />;
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
