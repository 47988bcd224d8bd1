import { Stack } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Shape, useShown } from '../../api/client.js';
import { useFilter } from '../../ui/address.js';
import { type Metric, MetricChart } from '../../ui/charts/metric-chart.js';
import { useLocale } from '../../ui/locale.js';
import { EmptyState, Loaded } from '../../ui/states.js';
import { logOf } from '../logs/log-search.js';
import { UsageBreakdown } from './usage-breakdown.js';
import { chartQuery, type UsageMetric, usageMetrics, usageSubjects } from './usage-search.js';
import { narrowedTo, useSubjectName } from './usage-subjects.js';
import { UsageTotals } from './usage-totals.js';
import { useDurationText } from '../../ui/time/duration.js';
import { useMoneyText } from '../../ui/money.js';

const route = getRouteApi('/user/usage');
const DAY_SECONDS = 86_400;

/** Totals, a chart, and a line for each model, key, group or type. */
export function UsageOverview() {
  const { t } = useTranslation('calls');
  const query = route.useSearch({ select: chartQuery, structuralSharing: true });
  const chart = useShown('/api/usage/chart', { query: query ?? {} }, { enabled: query !== null });
  if (query === null) return <EmptyState {...t('usage.noChart')} />;
  return (
    <Loaded query={chart} lines={14}>
      {(found) => (
        <Stack>
          <UsageTotals chart={found} />
          <Drawn chart={found} />
          {found.total.requests > 0 && <UsageBreakdown chart={found} />}
        </Stack>
      )}
    </Loaded>
  );
}

/** A bar leads to its requests; a name in the legend narrows the page to it. */
function usePlaces({ points, stepSeconds }: Shape<'UsageChart'>) {
  const search = route.useSearch();
  const navigate = useNavigate();
  const set = useFilter({ replace: false });
  const dayOf = (place: number) => points[place]!.at.slice(0, 10);
  const chooseDays = (first: number, last: number) =>
    set({ range: undefined, from: dayOf(first), to: dayOf(last) });
  return {
    choosePoint: (place: number) => void navigate({ to: '/logs', search: logOf(search, points[place]?.at) }),
    chooseRange: stepSeconds === DAY_SECONDS ? chooseDays : undefined,
    chooseSubject: (subject: string) => {
      const narrowed = narrowedTo(search.by ?? 'model', subject);
      return narrowed ? () => set(narrowed) : undefined;
    },
  };
}

function Drawn({ chart }: { chart: Shape<'UsageChart'> }) {
  const { t } = useTranslation('calls');
  const { by = 'model', show = 'spent' } = route.useSearch();
  const set = useFilter({ replace: false });
  const at = useStepText(chart);
  const { total, before, stepSeconds } = chart;
  const isEmpty = total.requests === 0 && (before === null || before.requests === 0);
  return (
    <MetricChart
      chart={chart}
      metrics={useUsageMetrics()}
      show={show}
      setShow={(value) => set({ show: value === 'spent' ? undefined : value })}
      subjects={usageSubjects}
      by={by}
      setBy={(value) => set({ by: value === 'model' ? undefined : value })}
      at={(place) => at(chart.points[place]!.at)}
      nameOf={useSubjectName(by)}
      {...usePlaces(chart)}
      hint={t(stepSeconds === DAY_SECONDS ? 'usage.daysHint' : 'usage.hoursHint')}
      empty={isEmpty ? t('usage.list.empty') : null}
    />
  );
}

/** Days are UTC, hours are in the viewer's time zone. */
function useStepText({ stepSeconds }: Pick<Shape<'UsageChart'>, 'stepSeconds'>) {
  const format = new Intl.DateTimeFormat(
    useLocale(),
    stepSeconds === DAY_SECONDS
      ? { month: 'short', day: 'numeric', timeZone: 'UTC' }
      : { hour: 'numeric', minute: '2-digit' },
  );
  return (at: string) => format.format(new Date(at));
}

type Totals = Shape<'UsageTotals'>;

const VALUES: Record<UsageMetric, (totals: Totals) => string | null> = {
  spent: ({ spent }) => spent,
  requests: ({ requests }) => String(requests),
  failures: ({ failures }) => String(failures),
  latency: ({ latencyMs }) => (latencyMs === null ? null : String(latencyMs)),
};

function useUsageMetrics(): Metric<Totals, UsageMetric>[] {
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
