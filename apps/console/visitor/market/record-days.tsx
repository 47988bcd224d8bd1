import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { spaced, useLocale, usePercent } from '../../ui/locale.js';
import { SmallPrint, useLabelled } from '../../ui/texts.js';

type RecordDay = Shape<'ModelRecord'>['days'][number];

const GOOD = 0.99;
export const FAIR = 0.95;

/** One bar for each UTC day. */
export function DayStrip({ days }: { days: readonly RecordDay[] }) {
  const { t } = useTranslation('models');
  return (
    <ol className="strip" aria-label={t('record.byDay')}>
      {days.map((day) => (
        <Day key={day.day} day={day} />
      ))}
    </ol>
  );
}

export function StripLegend() {
  const { t } = useTranslation('models');
  const share = useShare();
  const keys = [
    { tone: 'good', name: t('record.atLeast', { share: share(GOOD) }) },
    { tone: 'waiting', name: t('record.atLeast', { share: share(FAIR) }) },
    { tone: 'bad', name: t('record.below', { share: share(FAIR) }) },
    { tone: 'quiet', name: t('record.tooFew') },
  ];
  return (
    <SmallPrint>
      {t('record.legend')}
      <ul className="plain-list strip-legend">
        {keys.map(({ tone, name }) => (
          <li key={tone} data-tone={tone}>
            {name}
          </li>
        ))}
      </ul>
    </SmallPrint>
  );
}

function Day({ day: { day, delivered } }: { day: RecordDay }) {
  const share = useShare();
  const words = useLabelled()(useDay()(day), share(delivered));
  return (
    <li title={words} data-tone={toneOf(delivered)}>
      <span className="visually-hidden">{words}</span>
    </li>
  );
}

function toneOf(delivered: number | null): string {
  if (delivered === null) return 'quiet';
  return delivered >= GOOD ? 'good' : delivered >= FAIR ? 'waiting' : 'bad';
}

export function useShare(): (share: number | null) => string {
  const { t } = useTranslation('models');
  const percent = usePercent();
  return (share) => (share === null ? t('record.unknown') : percent(share));
}

export function useSeconds(): (value: string) => string {
  const format = new Intl.NumberFormat(useLocale(), {
    style: 'unit',
    unit: 'second',
    maximumFractionDigits: 2,
  });
  return (value) => spaced(format.format(Number(value)));
}

/** A UTC day, such as 31 Jan. */
export function useDay(): (day: string) => string {
  const format = new Intl.DateTimeFormat(useLocale(), { day: 'numeric', month: 'short', timeZone: 'UTC' });
  return (day) => format.format(new Date(day));
}
