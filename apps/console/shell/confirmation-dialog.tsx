import { Button, Modal, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.js';
import { FormFault, useSend } from '../ui/form.js';
import { PasswordField } from '../ui/password-field.js';

interface ConfirmationDialogProps {
  by: 'code' | 'password';
  answer: (isConfirmed: boolean) => void;
}

/** Above whatever is open: a code of the device, or the password of those who have none. */
export default function ConfirmationDialog({ by, answer }: ConfirmationDialogProps) {
  const { t } = useTranslation('shell');
  const form = useForm({
    initialValues: { code: '', password: '' },
    validate: { [by]: (value: string) => (value.trim() ? null : t(`confirmation.missing.${by}`)) },
  });
  const { onSubmit, isSending, failure } = useSend({
    form,
    send: ({ code, password }) =>
      api.POST('/api/session/confirm', { body: by === 'code' ? { code: code.trim() } : { password } }),
    done: () => answer(true),
  });
  return (
    <Modal
      opened
      onClose={() => answer(false)}
      title={t('confirmation.title')}
      zIndex={300}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      <form onSubmit={onSubmit} noValidate className="stack">
        <Text size="sm">{t(`confirmation.about.${by}`)}</Text>
        {by === 'code' ? (
          <TextInput
            label={t('confirmation.code')}
            autoComplete="one-time-code"
            data-autofocus
            required
            {...form.getInputProps('code')}
          />
        ) : (
          <PasswordField
            label={t('confirmation.password')}
            autoComplete="current-password"
            data-autofocus
            required
            visibilityToggleButtonProps={{ 'aria-label': t('confirmation.show') }}
            {...form.getInputProps('password')}
          />
        )}
        <FormFault failure={failure} />
        <Button type="submit" loading={isSending}>
          {t('confirmation.submit')}
        </Button>
      </form>
    </Modal>
  );
}
