import { Button, Card, Group, Modal, NumberInput, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { $api, api } from '../../api/client.js';
import { type Answer, refresh } from '../../api/queries.js';
import { tell } from '../../shell/notices.js';
import { mayAny, useSession } from '../../shell/session.js';
import { FormFault, useSend } from '../../ui/form.js';
import { useLocale } from '../../ui/locale.js';
import { Loaded, Section } from '../../ui/states.js';

type Limits = Answer<'/api/support/accounts/{accountId}/limits'>;
type Values = { [Name in keyof Limits]: number | string };

/** How many requests the keys of an account may send together. */
export function AccountLimits({ accountId }: { accountId: string }) {
  const { t } = useTranslation('support');
  const session = useSession();
  const locale = useLocale();
  const limits = $api.useQuery('get', '/api/support/accounts/{accountId}/limits', {
    params: { path: { accountId } },
  });
  const shown = (limit: number | null) =>
    limit === null ? t('limits.asEverybody') : limit.toLocaleString(locale);
  return (
    <Section
      title={t('limits.title')}
      aside={
        mayAny(session, ['admin']) && limits.data && <SetLimits accountId={accountId} current={limits.data} />
      }
    >
      <Loaded query={limits} lines={2}>
        {({ requestsPerMinute, maxConcurrentRequests }) => (
          <Card withBorder>
            <Stack gap="xs">
              <Text size="sm">
                {t('limits.perMinute')}: {shown(requestsPerMinute)}
              </Text>
              <Text size="sm">
                {t('limits.concurrent')}: {shown(maxConcurrentRequests)}
              </Text>
            </Stack>
          </Card>
        )}
      </Loaded>
    </Section>
  );
}

function SetLimits({ accountId, current }: { accountId: string; current: Limits }) {
  const { t } = useTranslation('support');
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button variant="default" size="xs" onClick={open}>
        {t('limits.set')}
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={t('limits.set')}
        closeButtonProps={{ 'aria-label': t('close', { ns: 'shell' }) }}
      >
        <LimitsForm accountId={accountId} current={current} close={close} />
      </Modal>
    </>
  );
}

function LimitsForm(props: { accountId: string; current: Limits; close: () => void }) {
  const { t } = useTranslation('support');
  const { accountId, current, close } = props;
  const { requestsPerMinute, maxConcurrentRequests } = current;
  const form = useForm<Values>({
    initialValues: {
      requestsPerMinute: requestsPerMinute ?? '',
      maxConcurrentRequests: maxConcurrentRequests ?? '',
    },
  });
  const { onSubmit, isSending, failure } = useSend({
    form,
    send: (values) =>
      api.PATCH('/api/admin/accounts/{accountId}/limits', {
        params: { path: { accountId } },
        body: {
          requestsPerMinute: limitOf(values.requestsPerMinute),
          maxConcurrentRequests: limitOf(values.maxConcurrentRequests),
        },
      }),
    done: async () => {
      await refresh('/api/support/accounts/{accountId}/limits', '/api/admin/audit-log');
      tell(t('limits.done'));
      close();
    },
  });
  const input = { min: 1, max: 1_000_000_000, allowDecimal: false, hideControls: true };
  const placeholder = t('limits.asEverybody');
  return (
    <form onSubmit={onSubmit} noValidate className="stack">
      <Text size="sm">{t('limits.hint')}</Text>
      <Group grow align="end">
        <NumberInput
          {...input}
          label={t('limits.perMinute')}
          placeholder={placeholder}
          {...form.getInputProps('requestsPerMinute')}
        />
        <NumberInput
          {...input}
          label={t('limits.concurrent')}
          placeholder={placeholder}
          {...form.getInputProps('maxConcurrentRequests')}
        />
      </Group>
      <FormFault failure={failure} />
      <Button type="submit" loading={isSending} w="fit-content">
        {t('limits.submit')}
      </Button>
    </form>
  );
}

function limitOf(value: number | string): number | null {
  return value === '' ? null : Number(value);
}
