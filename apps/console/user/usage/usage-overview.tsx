import { Card, Group, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../api/client.js';
import { keepShown } from '../../api/queries.js';
import type { Shape } from '../../api/shape.js';
import { useFilter } from '../../ui/address.js';
import { Switch } from '../../ui/lists/choice.js';
import { EmptyState, Loaded } from '../../ui/states.js';
import { SmallPrint } from '../../ui/texts.js';
import { UsageBreakdown } from './usage-breakdown.js';
import { UsageDrawing } from './usage-drawing.js';
import { chartQuery, usageMetrics, usageSubjects } from './usage-search.js';
import { UsageTotals } from './usage-totals.js';

const route = getRouteApi('/user/usage');

/** What was spent on what: totals, a chart, and a line for each model, key, group or type. */
export function UsageOverview() {
  const { t } = useTranslation('calls');
  const query = chartQuery(route.useSearch());
  const chart = $api.useQuery(
    'get',
    '/api/usage/chart',
    { params: { query: query ?? {} } },
    { ...keepShown, enabled: query !== null },
  );
  if (query === null) return <EmptyState title={t('usage.noChart')} hint={t('usage.noChartHint')} />;
  return (
    <Loaded query={chart} lines={14}>
      {(found) => (
        <Stack>
          <UsageTotals chart={found} />
          <Card withBorder>
            <Stack>
              <ChartChoices />
              <Drawn chart={found} />
            </Stack>
          </Card>
          {found.total.requests > 0 && <UsageBreakdown chart={found} />}
        </Stack>
      )}
    </Loaded>
  );
}

/** What the chart shows, and by what. */
function ChartChoices() {
  const { t } = useTranslation('calls');
  const { by = 'model', show = 'spent' } = route.useSearch();
  const set = useFilter({ replace: false });
  return (
    <Group justify="space-between">
      <Switch
        label={t('usage.show')}
        options={usageMetrics.map((value) => ({ value, label: t(`usage.metrics.${value}`) }))}
        value={show}
        set={(value) => set({ show: value === 'spent' ? undefined : value })}
      />
      <Switch
        label={t('usage.by')}
        options={usageSubjects.map((value) => ({ value, label: t(`usage.bySubject.${value}`) }))}
        value={by}
        set={(value) => set({ by: value === 'model' ? undefined : value })}
      />
    </Group>
  );
}

function Drawn({ chart }: { chart: Shape<'UsageChart'> }) {
  const { t } = useTranslation('calls');
  const { total, before } = chart;
  if (total.requests === 0 && (before === null || before.requests === 0))
    return <EmptyState title={t('usage.nothing')} hint={t('usage.nothingHint')} />;
  return (
    <>
      <UsageDrawing chart={chart} />
      <SmallPrint>{t(chart.stepSeconds === 86_400 ? 'usage.daysHint' : 'usage.hoursHint')}</SmallPrint>
    </>
  );
}
