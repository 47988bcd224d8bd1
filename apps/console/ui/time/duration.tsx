import { spaced, useLocale } from '../locale.js';

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** A length of time in the largest unit that it fills, such as “30 days”. */
export function Duration({ seconds }: { seconds: number }) {
  const locale = useLocale();
  const [unit, size] = UNITS.find(([, length]) => seconds >= length) ?? ['second', 1];
  const format = new Intl.NumberFormat(locale, {
    style: 'unit',
    unit,
    unitDisplay: 'long',
    maximumFractionDigits: 1,
  });
  return <span>{spaced(format.format(seconds / size))}</span>;
}
