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

/** Asks for a code, or for the password of people without a second factor, above anything that is open. */
export default function ConfirmationDialog({ by, answer }: ConfirmationDialogProps) {
  const { t } = useTranslation('shell');
  return (
    <Dialog opened onClose={() => answer(false)} title={t('confirmation.title')} zIndex={300}>
      <Form
        fields={useFields(by)}
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

function useFields(by: ConfirmationDialogProps['by']) {
  const { t } = useTranslation('shell');
  const asked = { missing: t(`confirmation.missing.${by}`), isFirst: true };
  return {
    code: textField(t('confirmation.code'), { ...asked, autoComplete: 'one-time-code' }),
    password: passwordField(t('confirmation.password'), { ...asked, autoComplete: 'current-password' }),
  };
}
