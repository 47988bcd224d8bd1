import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { When } from '../../ui/time/when.js';
import { periodTones } from './period.js';

export function PeriodBadge({ state }: { state: Shape<'Period'>['state'] }) {
  const { t } = useTranslation('periods');
  return <StatusBadge tone={periodTones[state]}>{t(`states.${state}`)}</StatusBadge>;
}

export function PeriodSpan({
  period: { startsAt, endsAt },
}: {
  period: Pick<Shape<'Period'>, 'startsAt' | 'endsAt'>;
}) {
  const { t } = useTranslation('periods');
  return (
    <>
      {startsAt === null ? t('beginning') : <When at={startsAt} />} – <When at={endsAt} />
    </>
  );
}
