import '@mantine/dates/styles.css';
import 'dayjs/locale/zh-cn.js';
import { DatePickerInput } from '@mantine/dates';
import { IconCalendar } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';

interface DayRangeProps {
  /** Days such as 2026-01-31, both included. */
  from: string | undefined;
  to: string | undefined;
  set: (days: { from: string | undefined; to: string | undefined }) => void;
}

/** Chooses the first and the last day of a list. */
export function DayRange({ from, to, set }: DayRangeProps) {
  const { t, i18n } = useTranslation('shell');
  // Between the two clicks there is a first day only, which is no range yet.
  const [begun, setBegun] = useState<string | null>(null);
  return (
    <DatePickerInput
      type="range"
      label={t('days.label')}
      labelProps={{ className: 'visually-hidden' }}
      placeholder={t('days.any')}
      leftSection={<IconCalendar size={16} aria-hidden />}
      clearable
      clearButtonProps={{ 'aria-label': t('days.clear') }}
      allowSingleDateInRange
      locale={i18n.language === 'zh' ? 'zh-cn' : 'en'}
      valueFormat="YYYY-MM-DD"
      w={{ base: '100%', xs: '16rem' }}
      ariaLabels={{
        previousMonth: t('days.previousMonth'),
        nextMonth: t('days.nextMonth'),
        previousYear: t('days.previousYear'),
        nextYear: t('days.nextYear'),
        monthLevelControl: t('days.chooseMonth'),
        yearLevelControl: t('days.chooseYear'),
      }}
      value={begun === null ? [from ?? null, to ?? null] : [begun, null]}
      onChange={([first, last]) => {
        setBegun(first !== null && last === null ? first : null);
        if ((first === null) === (last === null)) set({ from: first ?? undefined, to: last ?? undefined });
      }}
    />
  );
}

/** The days as times for the server, in the viewer's zone: `from` is included, `to` is not. */
export function timesOfDays(days: { from?: string | undefined; to?: string | undefined }): {
  from?: string;
  to?: string;
} {
  return {
    ...(days.from === undefined ? {} : { from: startOf(days.from, 0) }),
    ...(days.to === undefined ? {} : { to: startOf(days.to, 1) }),
  };
}

function startOf(day: string, later: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date + later).toISOString();
}
