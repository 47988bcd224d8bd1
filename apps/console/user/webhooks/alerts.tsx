import { useTranslation } from 'react-i18next';
import { $api, api } from '../../api/client.js';
import { refresh } from '../../api/queries.js';
import type { Shape } from '../../api/shape.js';

import { isDecimal } from '../../ui/decimal.js';
import { Form } from '../../ui/forms/declared.js';
import { creditsField, orNull } from '../../ui/forms/text-fields.js';
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
  const amount = (name: 'threshold' | 'monthlyLimit', value: string | null, placeholder: string) =>
    orNull(
      creditsField(t(`alerts.${name}`), {
        ...rules,
        initial: value ?? '',
        hint: t(`alerts.${name}Hint`),
        placeholder,
      }),
    );
  return (
    <Form
      fields={{
        lowBalanceThreshold: amount('threshold', account.lowBalanceThreshold, t('alerts.never')),
        monthlyLimit: amount('monthlyLimit', account.monthlyLimit, t('alerts.noLimit')),
      }}
      submit={t('alerts.save')}
      foot={
        <Hint>
          {t('alerts.spent')} <Money value={account.spentThisMonth} />
        </Hint>
      }
      send={(body) => api.PATCH('/api/account', { body })}
      reread={() => refresh('/api/account')}
      success={() => t('alerts.saved')}
    />
  );
}
