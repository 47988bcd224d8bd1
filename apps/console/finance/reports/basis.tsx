import { useTranslation } from 'react-i18next';
import { Switch } from '../../ui/lists/choice.js';
import { type Basis, basisOf, FIRST_METRICS, type RevenueMetric } from './revenue.js';

interface BasisSwitchProps {
  show: RevenueMetric;
  setShow: (show: RevenueMetric) => void;
}

/** Credits that customers used, or the money behind them: figures of the two are never beside each other. */
export function BasisSwitch({ show, setShow }: BasisSwitchProps) {
  const { t } = useTranslation('charts');
  return (
    <Switch<Basis>
      label={t('basis.label')}
      options={[
        { value: 'credits', label: t('basis.credits') },
        { value: 'cash', label: t('basis.cash') },
      ]}
      value={basisOf(show)}
      set={(basis) => setShow(FIRST_METRICS[basis])}
    />
  );
}
