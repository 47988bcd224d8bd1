import { Button, Modal, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.js';
import { FormFault, useSend } from '../../ui/form.js';
import { PasswordField } from '../../ui/password-field.js';
import { EMAIL } from '../../visitor/entrance.js';

/** Another address: a link goes there, and nothing is changed before it was followed. */
export function EmailChange() {
  const { t } = useTranslation('account');
  const [isOpen, setOpen] = useState(false);
  const [sentTo, setSentTo] = useState<string | null>(null);
  const open = () => {
    setSentTo(null);
    setOpen(true);
  };
  return (
    <>
      <Button variant="default" w="fit-content" onClick={open}>
        {t('email.change')}
      </Button>
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        title={t('email.title')}
        closeButtonProps={{ 'aria-label': t('close', { ns: 'shell' }) }}
      >
        {sentTo === null ? (
          <AskForm sent={setSentTo} />
        ) : (
          <Text role="status">{t('email.sent', { email: sentTo })}</Text>
        )}
      </Modal>
    </>
  );
}

function AskForm({ sent }: { sent: (email: string) => void }) {
  const { t } = useTranslation('account');
  const form = useForm({
    initialValues: { email: '', password: '' },
    validate: {
      email: (value) => (EMAIL.test(value.trim()) ? null : t('email.invalid')),
      password: (value) => (value ? null : t('password.missing')),
    },
  });
  const { onSubmit, isSending, failure } = useSend({
    form,
    send: async ({ email, password }) => {
      await api.POST('/api/email-changes', { body: { email: email.trim(), password } });
      return email.trim();
    },
    done: sent,
  });
  return (
    <form onSubmit={onSubmit} noValidate className="stack">
      <Text size="sm">{t('email.about')}</Text>
      <TextInput
        label={t('email.new')}
        type="email"
        autoComplete="email"
        data-autofocus
        required
        {...form.getInputProps('email')}
      />
      <PasswordField
        label={t('password.current')}
        autoComplete="current-password"
        required
        visibilityToggleButtonProps={{ 'aria-label': t('password.show') }}
        {...form.getInputProps('password')}
      />
      <FormFault failure={failure} />
      <Button type="submit" loading={isSending}>
        {t('email.submit')}
      </Button>
    </form>
  );
}
