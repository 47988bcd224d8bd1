import { useTranslation } from 'react-i18next';
import { SwitchFilter, optionsOf } from '../../ui/lists/choice.js';

const orders = ['recorded', 'effective'] as const;

/** Chooses whether entries count when they were recorded or when they took effect. */
export function OrderFilter() {
  const { t } = useTranslation('finance');
  return <SwitchFilter param="by" label={t('trial.by')} options={optionsOf(orders, t('trial.orders'))} />;
}
