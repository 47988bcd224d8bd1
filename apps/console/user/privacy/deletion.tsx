import { Alert, Button, List, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, type GetAnswer, useRead } from '../../api/client.js';
import { useSignOut } from '../../shell/sign-out.js';
import { signOf } from '../../ui/decimal.js';
import { Dialog } from '../../ui/forms/dialog.js';
import { Duration } from '../../ui/time/duration.js';
import { tickField } from '../../ui/forms/choice-fields.js';
import { Form } from '../../ui/forms/declared.js';
import type { Field, Sent } from '../../ui/forms/field.js';
import { textField } from '../../ui/forms/text-fields.js';
import { Loaded } from '../../ui/states.js';
import { useCurrentPassword } from '../account/current-password.js';

type Preview = GetAnswer<'/api/account/deletion'>;

/** Says what is deleted and what stays before it asks for the password. */
export function DeleteAccount() {
  const { t } = useTranslation('privacy');
  const [isOpen, setOpen] = useState(false);
  const preview = useRead('/api/account/deletion');
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

/** Losing the remaining credits needs an explicit confirmation. */
function useForfeit({ main, invite }: Preview): Field<boolean> {
  const { t } = useTranslation('privacy');
  const field = tickField(t('deletion.forfeit'));
  return {
    ...field,
    fault: (isConfirmed) => (isConfirmed ? null : t('deletion.forfeitMissing')),
    draw: (bound) => (
      <Alert color="orange">
        <Stack gap="xs">
          <Text size="sm">{t('deletion.money', { main, invite })}</Text>
          {field.draw(bound)}
        </Stack>
      </Alert>
    ),
  };
}

function useFields(preview: Preview) {
  const { t } = useTranslation('privacy');
  const code = { autoComplete: 'one-time-code', autoFocus: true, required: true };
  return {
    forfeitBalance: useForfeit(preview),
    password: useCurrentPassword(),
    code: textField(t('deletion.code'), code),
  };
}

function requestDeletion({ code, ...values }: Sent<ReturnType<typeof useFields>>) {
  return api.POST('/api/account/deletion', { body: { ...values, ...(code && { code }) } });
}

function DeletionForm({ preview }: { preview: Preview }) {
  const { t } = useTranslation('privacy');
  const signOut = useSignOut();
  const [asksCode, setAsksCode] = useState(false);
  const hasMoney = signOf(preview.main) > 0 || signOf(preview.invite) > 0;
  const money = hasMoney ? [] : (['forfeitBalance'] as const);
  return (
    <Form
      fields={useFields(preview)}
      hidden={() => (asksCode ? money : [...money, 'code'])}
      submit={t('deletion.submit')}
      isWide
      isShort
      button={{ color: 'red' }}
      send={(values) => signOut(() => requestDeletion(values))}
      refused={({ code }) => {
        if (code === 'totp_required') setAsksCode(true);
        return code === 'totp_required';
      }}
    >
      <What preview={preview} />
    </Form>
  );
}
