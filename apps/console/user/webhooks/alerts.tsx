import { Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api, api } from '../../api/client.js';
import { refresh } from '../../api/queries.js';
import type { Shape } from '../../api/shape.js';
import { notify } from '../../shell/notices.js';
import { isDecimal } from '../../ui/decimal.js';
import { CreditsField } from '../../ui/forms/fields.js';
import { SendForm, useSendForm } from '../../ui/forms/form.js';
import { Money } from '../../ui/money.js';
import { Loaded } from '../../ui/states.js';
import { Hint } from '../../ui/texts.js';

/** The balance that people are warned at, and what all keys may spend in a month. */
export function Alerts() {
  const account = $api.useQuery('get', '/api/account');
  return (
    <Loaded query={account} lines={4}>
      {(found) => <AlertsForm account={found} />}
    </Loaded>
  );
}

function AlertsForm({ account }: { account: Shape<'Account'> }) {
  const { t } = useTranslation('webhooks');
  const invalid = (value: string) => (value.trim() && !isDecimal(value.trim()) ? t('alerts.invalid') : null);
  const { form, sending } = useSendForm({
    initialValues: {
      lowBalanceThreshold: account.lowBalanceThreshold ?? '',
      monthlyLimit: account.monthlyLimit ?? '',
    },
    validate: { lowBalanceThreshold: invalid, monthlyLimit: invalid },
    send: async ({ lowBalanceThreshold, monthlyLimit }) => {
      const body = {
        lowBalanceThreshold: lowBalanceThreshold.trim() || null,
        monthlyLimit: monthlyLimit.trim() || null,
      };
      return (await api.PATCH('/api/account', { body })).data!;
    },
    done: async () => {
      notify(t('alerts.saved'));
      await refresh('/api/account');
    },
  });
  return (
    <SendForm sending={sending} submit={t('alerts.save')}>
      <Group align="flex-start" grow preventGrowOverflow={false}>
        <CreditsField
          form={form}
          name="lowBalanceThreshold"
          label={t('alerts.threshold')}
          description={t('alerts.thresholdHint')}
          placeholder={t('alerts.never')}
          miw="15rem"
        />
        <CreditsField
          form={form}
          name="monthlyLimit"
          label={t('alerts.monthlyLimit')}
          description={t('alerts.monthlyLimitHint')}
          placeholder={t('alerts.noLimit')}
          miw="15rem"
        />
      </Group>
      <Hint>
        {t('alerts.spent')} <Money value={account.spentThisMonth} />
      </Hint>
    </SendForm>
  );
}
