import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { useDurationText } from '../../ui/time/duration.js';
import { useChangeText } from '../../ui/charts/change.js';
import { Figure, Figures } from '../../ui/lists/facts.js';
import { useLocale } from '../../ui/locale.js';
import { ShortPrices } from '../../ui/money.js';

type Totals = Shape<'UsageTotals'>;

export function UsageTotals({ chart: { total, before } }: { chart: Shape<'UsageChart'> }) {
  const { t } = useTranslation('calls');
  const locale = useLocale();
  const change = useChangeText();
  const duration = useDurationText();
  const hintOf = (of: (totals: Totals) => number) =>
    before === null ? undefined : change(of(total), of(before));
  const { requests, failures, latencyMs } = total;
  const latency = latencyMs === null ? '–' : duration(latencyMs);
  const figures = [
    ['spent', <ShortPrices key="spent" value={total.spent} />, hintOf(({ spent }) => Number(spent))],
    ['requests', requests.toLocaleString(locale), hintOf((totals) => totals.requests)],
    ['failures', failures.toLocaleString(locale), hintOf((totals) => totals.failures)],
    ['latency', latency, latencyMs === null ? undefined : hintOf((totals) => totals.latencyMs ?? 0)],
  ] as const;
  return (
    <Figures>
      {figures.map(([name, value, hint]) => (
        <Figure key={name} name={t(`usage.metrics.${name}`)} value={value} hint={hint} />
      ))}
    </Figures>
  );
}
