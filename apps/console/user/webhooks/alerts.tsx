import { Button, Group, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { $api, api } from '../../api/client.js';
import { type Answer, refresh } from '../../api/queries.js';
import { tell } from '../../shell/notices.js';
import { isDecimal } from '../../ui/decimal.js';
import { FormFault, useSend } from '../../ui/form.js';
import { Money } from '../../ui/money.js';
import { Loaded } from '../../ui/states.js';

type Account = Answer<'/api/account'>;

/** The balance that people are warned at, and what all keys may spend in a month. */
export function Alerts() {
  const account = $api.useQuery('get', '/api/account');
  return (
    <Loaded query={account} lines={4}>
      {(found) => <AlertsForm account={found} />}
    </Loaded>
  );
}

function AlertsForm({ account }: { account: Account }) {
  const { t } = useTranslation('webhooks');
  const invalid = (value: string) => (value.trim() && !isDecimal(value.trim()) ? t('alerts.invalid') : null);
  const form = useForm({
    initialValues: {
      lowBalanceThreshold: account.lowBalanceThreshold ?? '',
      monthlyLimit: account.monthlyLimit ?? '',
    },
    validate: { lowBalanceThreshold: invalid, monthlyLimit: invalid },
  });
  const { onSubmit, isSending, failure } = useSend({
    form,
    send: async ({ lowBalanceThreshold, monthlyLimit }) => {
      const body = {
        lowBalanceThreshold: lowBalanceThreshold.trim() || null,
        monthlyLimit: monthlyLimit.trim() || null,
      };
      return (await api.PATCH('/api/account', { body })).data!;
    },
    done: async () => {
      tell(t('alerts.saved'));
      await refresh('/api/account');
    },
  });
  return (
    <form onSubmit={onSubmit} noValidate className="stack">
      <Group align="flex-start" grow preventGrowOverflow={false}>
        <TextInput
          label={t('alerts.threshold')}
          description={t('alerts.thresholdHint')}
          placeholder={t('alerts.never')}
          leftSection="USD"
          leftSectionWidth={48}
          inputMode="decimal"
          miw="15rem"
          {...form.getInputProps('lowBalanceThreshold')}
        />
        <TextInput
          label={t('alerts.monthlyLimit')}
          description={t('alerts.monthlyLimitHint')}
          placeholder={t('alerts.noLimit')}
          leftSection="USD"
          leftSectionWidth={48}
          inputMode="decimal"
          miw="15rem"
          {...form.getInputProps('monthlyLimit')}
        />
      </Group>
      <Text size="sm" c="dimmed">
        {t('alerts.spent')} <Money value={account.spentThisMonth} />
      </Text>
      <FormFault failure={failure} />
      <Button type="submit" loading={isSending} w="fit-content">
        {t('alerts.save')}
      </Button>
    </form>
  );
}
