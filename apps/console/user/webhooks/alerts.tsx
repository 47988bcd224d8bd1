import { useTranslation } from 'react-i18next';
import { api, refresh, type Shape, useRead } from '../../api/client.js';
import { isDecimal } from '../../ui/decimal.js';
import { Form } from '../../ui/forms/declared.js';
import { creditsField, orNull } from '../../ui/forms/text-fields.js';
import { Money } from '../../ui/money.js';
import { Loaded } from '../../ui/page.js';
import { Hint } from '../../ui/texts.js';

export function Alerts() {
  return (
    <Loaded query={useRead('/api/account')} lines={4}>
      {(found) => <AlertsForm account={found} />}
    </Loaded>
  );
}

function useFields({ lowBalanceThreshold, monthlyLimit }: Shape<'Account'>) {
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
  return {
    lowBalanceThreshold: amount('threshold', lowBalanceThreshold, t('alerts.never')),
    monthlyLimit: amount('monthlyLimit', monthlyLimit, t('alerts.noLimit')),
  };
}

function AlertsForm({ account }: { account: Shape<'Account'> }) {
  const { t } = useTranslation('webhooks');
  return (
    <Form
      fields={useFields(account)}
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
