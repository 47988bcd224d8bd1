import { spaced, useLocale } from '../locale.js';

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
  ['millisecond', 1],
] as const;

/** A duration in its largest whole unit, such as “3 hr”, or “3 hours” if long. */
export function useDurationText(unitDisplay: 'short' | 'long' = 'short'): (ms: number) => string {
  const locale = useLocale();
  return (ms) => {
    const [unit, size] = UNITS.find(([, length]) => ms >= length) ?? UNITS[unitDisplay === 'long' ? 3 : 4];
    const style = { style: 'unit', unit, unitDisplay, maximumFractionDigits: 1 } as const;
    return spaced(new Intl.NumberFormat(locale, style).format(ms / size));
  };
}

export function Duration({ seconds }: { seconds: number }) {
  return <span>{useDurationText('long')(seconds * 1_000)}</span>;
}
