import { Alert, Button, Checkbox, List, Stack, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api, api } from '../../api/client.js';
import type { GetAnswer } from '../../api/queries.js';
import { endSession, leave } from '../../shell/session.js';
import { signOf } from '../../ui/decimal.js';
import { Dialog } from '../../ui/forms/dialog.js';
import { Duration } from '../../ui/duration.js';
import { type Inputs, PasswordField, TextField } from '../../ui/forms/fields.js';
import { SendForm, useSendForm } from '../../ui/forms/form.js';
import { Loaded } from '../../ui/states.js';

type Preview = GetAnswer<'/api/account/deletion'>;

/** Deletes the account; says what goes and what stays before it asks for the password. */
export function DeleteAccount() {
  const { t } = useTranslation('privacy');
  const [isOpen, setOpen] = useState(false);
  const preview = $api.useQuery('get', '/api/account/deletion');
  return (
    <Stack gap="sm">
      <Text size="sm">{t('deletion.about')}</Text>
      <Button color="red" variant="outline" w="fit-content" onClick={() => setOpen(true)}>
        {t('deletion.start')}
      </Button>
      <Dialog opened={isOpen} onClose={() => setOpen(false)} title={t('deletion.title')}>
        <Loaded query={preview} lines={4}>
          {(found) => <DeletionForm preview={found} />}
        </Loaded>
      </Dialog>
    </Stack>
  );
}

function What({ preview: { graceSeconds } }: { preview: Preview }) {
  const { t } = useTranslation('privacy');
  return (
    <>
      <List size="sm">
        <List.Item>{t('deletion.keys')}</List.Item>
        <List.Item>{t('deletion.goes')}</List.Item>
        <List.Item>{t('deletion.stays')}</List.Item>
      </List>
      <Text size="sm">
        {t('deletion.grace')} <Duration seconds={graceSeconds} />
      </Text>
    </>
  );
}

/** Remaining credits are lost, which has to be confirmed explicitly. */
function Forfeit({ preview: { main, invite }, form }: { preview: Preview; form: Inputs }) {
  const { t } = useTranslation('privacy');
  return (
    <Alert color="orange">
      <Stack gap="xs">
        <Text size="sm">{t('deletion.money', { main, invite })}</Text>
        <Checkbox
          label={t('deletion.forfeit')}
          {...form.getInputProps('forfeitBalance', { type: 'checkbox' })}
        />
      </Stack>
    </Alert>
  );
}

function DeletionForm({ preview }: { preview: Preview }) {
  const { t } = useTranslation('privacy');
  const navigate = useNavigate();
  const [asksCode, setAsksCode] = useState(false);
  const hasMoney = signOf(preview.main) > 0 || signOf(preview.invite) > 0;
  const { form, sending } = useSendForm({
    initialValues: { password: '', code: '', forfeitBalance: false },
    validate: {
      password: (value) => (value ? null : t('password.missing')),
      forfeitBalance: (value) => (value || !hasMoney ? null : t('deletion.forfeitMissing')),
    },
    send: ({ password, code, forfeitBalance }) => {
      const body = { password, forfeitBalance, ...(code.trim() ? { code: code.trim() } : {}) };
      return endSession(() => api.POST('/api/account/deletion', { body }));
    },
    done: async () => {
      await navigate({ to: '/sign-in' });
      leave();
    },
    refused: ({ code }) => {
      if (code === 'totp_required') setAsksCode(true);
      return code === 'totp_required';
    },
  });
  return (
    <SendForm sending={sending} submit={t('deletion.submit')} isWide button={{ color: 'red' }}>
      <What preview={preview} />
      {hasMoney && <Forfeit preview={preview} form={form} />}
      <PasswordField
        form={form}
        name="password"
        label={t('password.current')}
        autoComplete="current-password"
      />
      {asksCode && (
        <TextField
          form={form}
          name="code"
          label={t('deletion.code')}
          autoComplete="one-time-code"
          autoFocus
          required
        />
      )}
    </SendForm>
  );
}
