import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.js';
import { Dialog } from '../ui/forms/dialog.js';
import { PasswordField, TextField } from '../ui/forms/fields.js';
import { SendForm, useSendForm } from '../ui/forms/form.js';

interface ConfirmationDialogProps {
  by: 'code' | 'password';
  answer: (isConfirmed: boolean) => void;
}

/** Above whatever is open: a code of the device, or the password of those who have none. */
export default function ConfirmationDialog({ by, answer }: ConfirmationDialogProps) {
  const { t } = useTranslation('shell');
  const { form, sending } = useSendForm({
    initialValues: { code: '', password: '' },
    validate: { [by]: (value: string) => (value.trim() ? null : t(`confirmation.missing.${by}`)) },
    send: ({ code, password }) =>
      api.POST('/api/session/confirm', { body: by === 'code' ? { code: code.trim() } : { password } }),
    done: () => answer(true),
  });
  return (
    <Dialog opened onClose={() => answer(false)} title={t('confirmation.title')} zIndex={300}>
      <SendForm sending={sending} submit={t('confirmation.submit')} isWide>
        <Text size="sm">{t(`confirmation.about.${by}`)}</Text>
        {by === 'code' ? (
          <TextField
            form={form}
            name="code"
            label={t('confirmation.code')}
            autoComplete="one-time-code"
            data-autofocus
            required
          />
        ) : (
          <PasswordField
            form={form}
            name="password"
            label={t('confirmation.password')}
            autoComplete="current-password"
            data-autofocus
          />
        )}
      </SendForm>
    </Dialog>
  );
}
