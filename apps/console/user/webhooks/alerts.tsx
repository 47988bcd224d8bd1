import { useTranslation } from 'react-i18next';
import { $api, api } from '../../api/client.js';
import { refresh } from '../../api/queries.js';
import type { Shape } from '../../api/shape.js';
import { notify } from '../../shell/notices.js';
import { isDecimal } from '../../ui/decimal.js';
import { Form } from '../../ui/forms/declared.js';
import { creditsField } from '../../ui/forms/text-fields.js';
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
  const rules = { rule: [isDecimal, t('alerts.invalid')] as const, isOptional: true, isHalf: true };
  return (
    <Form
      fields={{
        lowBalanceThreshold: creditsField(t('alerts.threshold'), {
          ...rules,
          initial: account.lowBalanceThreshold ?? '',
          hint: t('alerts.thresholdHint'),
          placeholder: t('alerts.never'),
        }),
        monthlyLimit: creditsField(t('alerts.monthlyLimit'), {
          ...rules,
          initial: account.monthlyLimit ?? '',
          hint: t('alerts.monthlyLimitHint'),
          placeholder: t('alerts.noLimit'),
        }),
      }}
      submit={t('alerts.save')}
      foot={
        <Hint>
          {t('alerts.spent')} <Money value={account.spentThisMonth} />
        </Hint>
      }
      send={({ lowBalanceThreshold, monthlyLimit }) => {
        const body = { lowBalanceThreshold: lowBalanceThreshold || null, monthlyLimit: monthlyLimit || null };
        return api.PATCH('/api/account', { body });
      }}
      done={async () => {
        notify(t('alerts.saved'));
        await refresh('/api/account');
      }}
    />
  );
}
