import { useTranslation } from 'react-i18next';
import { DayRange } from '../ui/forms/day-range.js';
import { Switch } from '../ui/lists/choice.js';
import { addDays, type DaySpan, monthOf, today } from './utc-days.js';

const RANGES = ['month', '7', '30', '90', 'days'] as const;
type Range = (typeof RANGES)[number];
/** What choosing days begins with. */
const FIRST_DAYS = 14;

/** The last days up to today. */
export function latestDays(count: number): Required<DaySpan> {
  return { from: addDays(today(), 1 - count), to: today() };
}

function spanOf(range: Range): Required<DaySpan> {
  if (range === 'month') return { from: monthOf(today()), to: today() };
  return latestDays(range === 'days' ? FIRST_DAYS : Number(range));
}

interface DayRangesProps {
  days: DaySpan;
  set: (days: DaySpan) => void;
}

/** Chooses days of UTC: a range up to today, or any. */
export function DayRanges({ days, set }: DayRangesProps) {
  const { t } = useTranslation('charts');
  const isOf = (range: Range) => spanOf(range).from === days.from && spanOf(range).to === days.to;
  const chosen = RANGES.find((range) => range !== 'days' && isOf(range)) ?? 'days';
  return (
    <>
      <Switch
        label={t('range')}
        options={RANGES.map((value) => ({ value, label: t(`ranges.${value}`) }))}
        value={chosen}
        set={(range: Range) => set(spanOf(range))}
      />
      {chosen === 'days' && <DayRange from={days.from} to={days.to} set={set} />}
    </>
  );
}
