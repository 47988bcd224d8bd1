import { useTranslation } from 'react-i18next';
import { useNow } from './now.js';
import { spaced, useLocale } from '../locale.js';
import { SmallPrint } from '../texts.js';

const formats = new Map<string, Intl.DateTimeFormat>();

const MINUTE = { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' } as const;
const STYLES = {
  time: { dateStyle: 'medium', timeStyle: 'medium' },
  day: { dateStyle: 'medium', timeZone: 'UTC' },
  minute: MINUTE,
  'minute of year': { ...MINUTE, year: 'numeric' },
} as const;

function formatOf(locale: string, show: keyof typeof STYLES): Intl.DateTimeFormat {
  const key = `${locale} ${show}`;
  let format = formats.get(key);
  if (!format) {
    format = new Intl.DateTimeFormat(locale, STYLES[show]);
    formats.set(key, format);
  }
  return format;
}

/** A time in the viewer's time zone, with UTC on hover. Use it for every time; they are ISO 8601 in UTC. */
export function When({ at }: { at: string }) {
  const locale = useLocale();
  const utc = `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;
  return (
    <time dateTime={at} title={utc}>
      {formatOf(locale, 'time').format(new Date(at))}
    </time>
  );
}

/** A time in small print after its label; nothing if there is none. */
export function SmallWhen({ label, at }: { label?: string; at: string | null }) {
  if (at === null) return null;
  return (
    <SmallPrint>
      {label && `${label} `}
      <When at={at} />
    </SmallPrint>
  );
}

const MINUTE_MS = 60_000;
const STEPS = [
  { unit: 'minute', ms: MINUTE_MS, most: 60 },
  { unit: 'hour', ms: 60 * MINUTE_MS, most: 24 },
] as const;

/** A time without seconds, and without the current year, with the exact time on hover. */
function ShortWhen({ at, now }: { at: string; now: number }) {
  const locale = useLocale();
  const date = new Date(at);
  const isThisYear = date.getFullYear() === new Date(now).getFullYear();
  return (
    <time dateTime={at} title={formatOf(locale, 'time').format(date)}>
      {formatOf(locale, isThisYear ? 'minute' : 'minute of year').format(date)}
    </time>
  );
}

/** The age within a day, otherwise the date, with the exact time on hover. For lists. */
export function Ago({ at }: { at: string }) {
  const { t } = useTranslation('shell');
  const locale = useLocale();
  const now = useNow(MINUTE_MS);
  const age = now - Date.parse(at);
  const step = STEPS.find(({ ms, most }) => age < ms * most);
  // What is newer than the last tick happened just now.
  if (step === undefined || age < -MINUTE_MS) return <ShortWhen at={at} now={now} />;
  const exact = formatOf(locale, 'time').format(new Date(at));
  const words = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' });
  return (
    <time dateTime={at} title={exact}>
      {age < MINUTE_MS ? t('justNow') : spaced(words.format(-Math.floor(age / step.ms), step.unit))}
    </time>
  );
}

/** A UTC day such as 2026-01-31, whatever the viewer's time zone, because limits are counted in UTC. */
export function Day({ on }: { on: string }) {
  const locale = useLocale();
  return (
    <time dateTime={on} title={`${on} UTC`}>
      {formatOf(locale, 'day').format(new Date(`${on}T00:00:00Z`))}
    </time>
  );
}

/** A UTC day without its year, such as for charts. */
export function useShortDay(): (day: string) => string {
  const format = new Intl.DateTimeFormat(useLocale(), { month: 'short', day: 'numeric', timeZone: 'UTC' });
  return (day) => format.format(new Date(`${day}T00:00:00Z`));
}
