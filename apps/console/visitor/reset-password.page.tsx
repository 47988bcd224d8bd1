import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.js';
import { Form } from '../ui/forms/declared.js';
import { useCode, useEntrance, useNewPassword } from './entrance.js';
import { LinkPage } from './link-page.js';

export default function ResetPasswordPage() {
  const { t } = useTranslation('visitor');
  return <LinkPage texts={t('reset')} again="/forgot-password" form={ResetForm} />;
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
