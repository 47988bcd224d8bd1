import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useFilter } from '../address.js';
import { DayPicker } from './day-field.js';

interface DayRangeProps {
  /** Days such as 2026-01-31, both included. */
  from: string | undefined;
  to: string | undefined;
  set: (days: { from: string | undefined; to: string | undefined }) => void;
}

export function DayRange({ from, to, set }: DayRangeProps) {
  const { t } = useTranslation('shell');
  // After the first of two clicks there is only a first day.
  const [begun, setBegun] = useState<string | null>(null);
  return (
    <DayPicker
      type="range"
      label={t('days.label')}
      labelProps={{ className: 'visually-hidden' }}
      placeholder={t('days.any')}
      clearable
      allowSingleDateInRange
      w={{ base: '100%', xs: '16rem' }}
      value={begun === null ? [from ?? null, to ?? null] : [begun, null]}
      onChange={([first, last]) => {
        setBegun(first !== null && last === null ? first : null);
        if ((first === null) === (last === null)) set({ from: first ?? undefined, to: last ?? undefined });
      }}
    />
  );
}

/** The days in the address. */
export function DaysFilter() {
  const { from, to } = useSearch({ strict: false });
  return <DayRange from={from} to={to} set={useFilter()} />;
}

/** The days as times in the viewer's time zone; `to` is exclusive. */
export function timesOfDays({ from, to }: { from?: string | undefined; to?: string | undefined }) {
  return { from: from && startOf(from, 0), to: to && startOf(to, 1) };
}

function startOf(day: string, later: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date + later).toISOString();
}
