import { useTranslation } from 'react-i18next';
import { DayRange } from '../ui/forms/day-range.js';
import { Switch, optionsOf } from '../ui/lists/choice.js';
import { addDays, type DaySpan, monthOf, today } from './utc-days.js';

const RANGES = ['month', '7', '30', '90', 'days'] as const;
type Range = (typeof RANGES)[number];
const FIRST_DAYS = 14;
const DAYS_BY_DEFAULT = 30;

/** The days that an address names, or the latest ones. */
export function chosenDays({ from, to }: DaySpan): Required<DaySpan> {
  return from === undefined || to === undefined ? latestDays(DAYS_BY_DEFAULT) : { from, to };
}

function latestDays(count: number): Required<DaySpan> {
  return { from: addDays(today(), 1 - count), to: today() };
}

function spanOf(range: Range): Required<DaySpan> {
  if (range === 'month') return { from: monthOf(today()), to: today() };
  return latestDays(range === 'days' ? FIRST_DAYS : Number(range));
}

/** Chooses UTC days: a range that ends today, or any days. */
export function DayRanges({ days, set }: { days: DaySpan; set: (days: DaySpan) => void }) {
  const { t } = useTranslation('charts');
  const isOf = (range: Range) => spanOf(range).from === days.from && spanOf(range).to === days.to;
  const chosen = RANGES.find((range) => range !== 'days' && isOf(range)) ?? 'days';
  return (
    <>
      <Switch
        label={t('range')}
        options={optionsOf(RANGES, t('ranges'))}
        value={chosen}
        set={(range: Range) => set(spanOf(range))}
      />
      {chosen === 'days' && <DayRange from={days.from} to={days.to} set={set} />}
    </>
  );
}
