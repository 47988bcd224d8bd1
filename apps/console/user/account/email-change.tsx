import { Button, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.js';
import { Dialog } from '../../ui/forms/dialog.js';
import { PasswordField, TextField } from '../../ui/forms/fields.js';
import { SendForm, useSendForm } from '../../ui/forms/form.js';
import { EMAIL } from '../../visitor/entrance.js';

/** Another address: a link goes there, and nothing is changed before it was followed. */
export function ChangeEmail() {
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
      <Dialog opened={isOpen} onClose={() => setOpen(false)} title={t('email.title')}>
        {sentTo === null ? (
          <AskForm sent={setSentTo} />
        ) : (
          <Text role="status">{t('email.sent', { email: sentTo })}</Text>
        )}
      </Dialog>
    </>
  );
}

function AskForm({ sent }: { sent: (email: string) => void }) {
  const { t } = useTranslation('account');
  const { form, sending } = useSendForm({
    initialValues: { email: '', password: '' },
    validate: {
      email: (value) => (EMAIL.test(value.trim()) ? null : t('email.invalid')),
      password: (value) => (value ? null : t('password.missing')),
    },
    send: async ({ email, password }) => {
      await api.POST('/api/email-changes', { body: { email: email.trim(), password } });
      return email.trim();
    },
    done: sent,
  });
  return (
    <SendForm sending={sending} submit={t('email.submit')} isWide>
      <Text size="sm">{t('email.about')}</Text>
      <TextField
        form={form}
        name="email"
        label={t('email.new')}
        type="email"
        autoComplete="email"
        data-autofocus
        required
      />
      <PasswordField
        form={form}
        name="password"
        label={t('password.current')}
        autoComplete="current-password"
      />
    </SendForm>
  );
}
