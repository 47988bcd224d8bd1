import { useTranslation } from 'react-i18next';
import { StatusBadge } from '../../ui/status-badge.js';
import { type Period, periodTones } from './period.js';

export function PeriodState({ state }: { state: Period['state'] }) {
  const { t } = useTranslation('periods');
  return <StatusBadge tone={periodTones[state]}>{t(`states.${state}`)}</StatusBadge>;
}
