import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/shape.js';
import { useDurationText } from '../../finance/reports/durations.js';
import { useFilter } from '../../ui/address.js';
import type { ChartSeries } from '../../ui/charts/chart-props.js';
import { Chart } from '../../ui/charts/chart.js';
import { useLocale } from '../../ui/locale.js';
import { useMoneyText } from '../../ui/money.js';
import type { UsageMetric } from './usage-search.js';
import { BEFORE, hasOthers, namedSubjects, OTHERS, SUBJECT_COLORS, stepValues } from './usage-series.js';
import { narrowedTo, useSubjectName } from './usage-subjects.js';

const route = getRouteApi('/user/usage');

/** Usage over time. A bar leads to its requests, and a name in the legend to what that is made of. */
export function UsageDrawing({ chart }: { chart: Shape<'UsageChart'> }) {
  const { t } = useTranslation('calls');
  const { by = 'model', show: metric = 'spent' } = route.useSearch();
  const set = useFilter({ replace: false });
  const at = useStepText(chart);
  const text = useMetricText(metric);
  const names = namedSubjects(chart);
  return (
    <Chart
      kind={metric === 'latency' ? 'line' : 'stacked-bar'}
      label={t('usage.chart', { metric: t(`usage.metrics.${metric}`), by: t(`usage.subjects.${by}`) })}
      points={chart.points.map((point) => ({ at: at(point.at), values: stepValues(point, names, metric) }))}
      series={useSeries(chart, metric)}
      text={text}
      choosePoint={(index) => set({ at: chart.points[index]?.at })}
      seriesAction={(name) => {
        const narrowed = name === BEFORE || name === OTHERS ? null : narrowedTo(by, name);
        return narrowed ? () => set(narrowed) : undefined;
      }}
    />
  );
}

function useSeries(chart: Shape<'UsageChart'>, metric: UsageMetric): ChartSeries[] {
  const { t } = useTranslation('calls');
  const { by = 'model' } = route.useSearch();
  const nameOf = useSubjectName(by);
  const named = namedSubjects(chart).map((name, place) => ({
    name,
    label: nameOf(name),
    color: SUBJECT_COLORS[place]!,
  }));
  const others = { name: OTHERS, label: t('usage.others'), color: 'gray.5' };
  const before = { name: BEFORE, label: t('usage.before'), color: 'gray.6', isBefore: true };
  return [
    ...named,
    ...(metric !== 'latency' && hasOthers(chart) ? [others] : []),
    ...(chart.before === null ? [] : [before]),
  ];
}

/** Writes the beginning of a step: days are of UTC, hours the viewer's. */
function useStepText({ stepSeconds }: Pick<Shape<'UsageChart'>, 'stepSeconds'>) {
  const format = new Intl.DateTimeFormat(
    useLocale(),
    stepSeconds === 86_400
      ? { month: 'short', day: 'numeric', timeZone: 'UTC' }
      : { hour: '2-digit', minute: '2-digit' },
  );
  return (at: string) => format.format(new Date(at));
}

function useMetricText(metric: UsageMetric): (value: string) => string {
  const money = useMoneyText();
  const duration = useDurationText();
  const locale = useLocale();
  if (metric === 'spent') return money;
  return metric === 'latency'
    ? (value) => duration(Number(value))
    : (value) => Number(value).toLocaleString(locale);
}
