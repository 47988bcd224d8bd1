import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { useDurationText } from '../../ui/time/duration.js';
import type { Metric } from '../../ui/charts/metric-chart.js';
import { useLocale } from '../../ui/locale.js';
import { useMoneyText } from '../../ui/money.js';
import { type UsageMetric, usageMetrics } from './usage-search.js';

type Totals = Shape<'UsageTotals'>;

const VALUES: Record<UsageMetric, (totals: Totals) => string | null> = {
  spent: ({ spent }) => spent,
  requests: ({ requests }) => String(requests),
  failures: ({ failures }) => String(failures),
  latency: ({ latencyMs }) => (latencyMs === null ? null : String(latencyMs)),
};

export function useUsageMetrics(): Metric<Totals, UsageMetric>[] {
  const { t } = useTranslation('calls');
  const locale = useLocale();
  const duration = useDurationText();
  const count = (value: string) => Number(value).toLocaleString(locale);
  const texts: Record<UsageMetric, (value: string) => string> = {
    spent: useMoneyText(),
    requests: count,
    failures: count,
    latency: (value) => duration(Number(value)),
  };
  return usageMetrics.map((name) => ({
    name,
    label: t(`usage.metrics.${name}`),
    valueOf: VALUES[name],
    text: texts[name],
    isAverage: name === 'latency',
  }));
}
