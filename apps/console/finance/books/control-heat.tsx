import { useTranslation } from 'react-i18next';
import { useRead } from '../../api/client.js';
import { useShortDay } from '../../ui/time/when.js';

/** Numbers of findings at which a day gets darker. */
const LEVELS = [1, 3, 10] as const;
/** Past days rarely change, and today's findings are shown beside them. */
const STALE_MS = 60_000;

/** Open findings of a control, day by day up to today: the more, the darker. */
export function ControlHeat({ controlId }: { controlId: string }) {
  const { t } = useTranslation('finance');
  const shortDay = useShortDay();
  const { data } = useRead('/api/finance/control-days', {}, { staleTime: STALE_MS });
  const counts = data?.items.find(({ id }) => id === controlId)?.findings ?? [];
  const withFindings = counts.filter((count) => count > 0).length;
  return (
    <span
      className="heat"
      role="img"
      aria-label={t('heat.label', { count: withFindings, days: counts.length })}
    >
      {counts.map((count, place) => {
        const day = data!.days[place]!;
        return (
          <span
            key={day}
            data-level={LEVELS.filter((least) => count >= least).length}
            title={t('heat.day', { day: shortDay(day), count })}
          />
        );
      })}
    </span>
  );
}
