import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/shape.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { periodTones } from './period.js';

export function PeriodBadge({ state }: { state: Shape<'Period'>['state'] }) {
  const { t } = useTranslation('periods');
  return <StatusBadge tone={periodTones[state]}>{t(`states.${state}`)}</StatusBadge>;
}
