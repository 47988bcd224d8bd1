import { useTranslation } from 'react-i18next';
import { Switch } from '../../ui/lists/choice.js';
import { type Basis, basisOf, FIRST_METRICS, type RevenueMetric } from './revenue.js';

interface BasisSwitchProps {
  show: RevenueMetric;
  setShow: (show: RevenueMetric) => void;
}

/** Switches between credits used and the money behind them, which are never shown together. */
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
