import { Button, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.js';
import { Dialog } from '../../ui/forms/dialog.js';
import { Form } from '../../ui/forms/declared.js';
import { textField } from '../../ui/forms/text-fields.js';
import { EMAIL } from '../../visitor/entrance.js';
import { useCurrentPassword } from './current-password.js';

/** Nothing changes until the link in the mail is opened. */
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
  return (
    <Form
      fields={{
        email: textField(t('email.new'), {
          rule: [EMAIL, t('email.invalid')],
          type: 'email',
          autoComplete: 'email',
          isFirst: true,
        }),
        password: useCurrentPassword(),
      }}
      submit={t('email.submit')}
      isWide
      send={(body) => api.POST('/api/email-changes', { body })}
      done={(_answer, { email }) => sent(email)}
    >
      <Text size="sm">{t('email.about')}</Text>
    </Form>
  );
}
