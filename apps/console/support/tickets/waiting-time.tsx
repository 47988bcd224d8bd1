import { Text } from '@mantine/core';
import { spaced, useLocale } from '../../ui/locale.js';
import { useNow } from '../../ui/time/now.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** How long a customer has waited, in red after a day, with the exact time on hover. */
export function WaitingTime({ since }: { since: string }) {
  const locale = useLocale();
  const ms = Math.max(useNow(MINUTE_MS) - Date.parse(since), 0);
  const [unit, size] =
    ms >= DAY_MS
      ? (['day', DAY_MS] as const)
      : ms >= HOUR_MS
        ? (['hour', HOUR_MS] as const)
        : (['minute', MINUTE_MS] as const);
  const format = new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short' });
  return (
    <Text span inherit className={ms >= DAY_MS ? 'late' : undefined}>
      <time dateTime={since} title={new Date(since).toLocaleString(locale)}>
        {spaced(format.format(Math.floor(ms / size)))}
      </time>
    </Text>
  );
}
