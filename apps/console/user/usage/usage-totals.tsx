import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/shape.js';
import { useDurationText } from '../../ui/time/duration.js';
import { useChangeText } from '../../ui/charts/change.js';
import { Figure, Figures } from '../../ui/lists/facts.js';
import { useLocale } from '../../ui/locale.js';
import { ShortPrices } from '../../ui/money.js';

type Totals = Shape<'UsageTotals'>;

/** What a span of time came to, each beside the span before. */
export function UsageTotals({ chart: { total, before } }: { chart: Shape<'UsageChart'> }) {
  const { t } = useTranslation('calls');
  const locale = useLocale();
  const change = useChangeText();
  const duration = useDurationText();
  const hintOf = (of: (totals: Totals) => number) =>
    before === null ? undefined : change(of(total), of(before));
  return (
    <Figures>
      <Figure
        name={t('usage.metrics.spent')}
        value={<ShortPrices value={total.spent} />}
        hint={hintOf(({ spent }) => Number(spent))}
      />
      <Figure
        name={t('usage.metrics.requests')}
        value={total.requests.toLocaleString(locale)}
        hint={hintOf(({ requests }) => requests)}
      />
      <Figure
        name={t('usage.metrics.failures')}
        value={total.failures.toLocaleString(locale)}
        hint={hintOf(({ failures }) => failures)}
      />
      <Figure
        name={t('usage.metrics.latency')}
        value={total.latencyMs === null ? '–' : duration(total.latencyMs)}
        hint={total.latencyMs === null ? undefined : hintOf(({ latencyMs }) => latencyMs ?? 0)}
      />
    </Figures>
  );
}
