import { spaced, useLocale } from '../../ui/locale.js';

const STEPS = [
  { unit: 'day', ms: 86_400_000 },
  { unit: 'hour', ms: 3_600_000 },
  { unit: 'minute', ms: 60_000 },
  { unit: 'second', ms: 1_000 },
] as const;

/** Durations in their largest unit, such as "3 hours"; below a second in milliseconds. */
export function useDurationText(): (ms: number) => string {
  const locale = useLocale();
  return (ms) => {
    const step = STEPS.find((each) => ms >= each.ms) ?? { unit: 'millisecond', ms: 1 };
    const format = new Intl.NumberFormat(locale, {
      style: 'unit',
      unit: step.unit,
      unitDisplay: 'short',
      maximumFractionDigits: 1,
    });
    return spaced(format.format(ms / step.ms));
  };
}
