import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.js';
import { Form } from '../ui/forms/declared.js';
import { Dialog } from '../ui/forms/dialog.js';
import { passwordField, textField } from '../ui/forms/text-fields.js';

interface ConfirmationDialogProps {
  by: 'code' | 'password';
  answer: (isConfirmed: boolean) => void;
}

/** Above whatever is open: a code of the device, or the password of those who have none. */
export default function ConfirmationDialog({ by, answer }: ConfirmationDialogProps) {
  const { t } = useTranslation('shell');
  const missing = t(`confirmation.missing.${by}`);
  return (
    <Dialog opened onClose={() => answer(false)} title={t('confirmation.title')} zIndex={300}>
      <Form
        fields={{
          code: textField(t('confirmation.code'), { missing, autoComplete: 'one-time-code', isFirst: true }),
          password: passwordField(t('confirmation.password'), {
            missing,
            autoComplete: 'current-password',
            isFirst: true,
          }),
        }}
        hidden={() => [by === 'code' ? 'password' : 'code']}
        submit={t('confirmation.submit')}
        isWide
        isShort
        send={({ code, password }) =>
          api.POST('/api/session/confirm', { body: by === 'code' ? { code } : { password } })
        }
        done={() => answer(true)}
      >
        <Text size="sm">{t(`confirmation.about.${by}`)}</Text>
      </Form>
    </Dialog>
  );
}
