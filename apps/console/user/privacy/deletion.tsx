import { Alert, Button, Checkbox, List, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api, api } from '../../api/client.js';
import type { Answer } from '../../api/queries.js';
import { endSession, leave } from '../../shell/session.js';
import { signOf } from '../../ui/decimal.js';
import { Duration } from '../../ui/duration.js';
import { FormFault, useSend } from '../../ui/form.js';
import { PasswordField } from '../../ui/password-field.js';
import { Loaded } from '../../ui/states.js';

type Preview = Answer<'/api/account/deletion'>;

/** Deletes the account; says what goes and what stays before it asks for the password. */
export function Deletion() {
  const { t } = useTranslation('privacy');
  const [isOpen, setOpen] = useState(false);
  const preview = $api.useQuery('get', '/api/account/deletion');
  return (
    <Stack gap="sm">
      <Text size="sm">{t('deletion.about')}</Text>
      <Button color="red" variant="outline" w="fit-content" onClick={() => setOpen(true)}>
        {t('deletion.start')}
      </Button>
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        title={t('deletion.title')}
        closeButtonProps={{ 'aria-label': t('close', { ns: 'shell' }) }}
      >
        <Loaded query={preview} lines={4}>
          {(found) => <DeletionForm preview={found} />}
        </Loaded>
      </Modal>
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

function DeletionForm({ preview }: { preview: Preview }) {
  const { t } = useTranslation('privacy');
  const navigate = useNavigate();
  const [asksCode, setAsksCode] = useState(false);
  const hasMoney = signOf(preview.main) > 0 || signOf(preview.invite) > 0;
  const form = useForm({
    initialValues: { password: '', code: '', forfeitBalance: false },
    validate: {
      password: (value) => (value ? null : t('password.missing')),
      forfeitBalance: (value) => (value || !hasMoney ? null : t('deletion.forfeitMissing')),
    },
  });
  const { onSubmit, isSending, failure } = useSend({
    form,
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
    <form onSubmit={onSubmit} noValidate className="stack">
      <What preview={preview} />
      {hasMoney && (
        <Alert color="orange">
          <Stack gap="xs">
            <Text size="sm">{t('deletion.money', { main: preview.main, invite: preview.invite })}</Text>
            <Checkbox
              label={t('deletion.forfeit')}
              {...form.getInputProps('forfeitBalance', { type: 'checkbox' })}
            />
          </Stack>
        </Alert>
      )}
      <PasswordField
        label={t('password.current')}
        autoComplete="current-password"
        required
        visibilityToggleButtonProps={{ 'aria-label': t('password.show') }}
        {...form.getInputProps('password')}
      />
      {asksCode && (
        <TextInput
          label={t('deletion.code')}
          autoComplete="one-time-code"
          autoFocus
          required
          {...form.getInputProps('code')}
        />
      )}
      <FormFault failure={failure} />
      <Button type="submit" color="red" loading={isSending}>
        {t('deletion.submit')}
      </Button>
    </form>
  );
}
