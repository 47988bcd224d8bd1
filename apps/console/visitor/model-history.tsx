import { Stack } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useShown } from '../api/lists.js';
import type { Shape } from '../api/shape.js';
import type { ChartPoint } from '../ui/charts/chart-props.js';
import { Chart } from '../ui/charts/chart.js';
import { column, timeColumn } from '../ui/lists/columns.js';
import { type ListColumn, DataList } from '../ui/lists/data-list.js';
import { exactDecimal } from '../ui/decimal.js';
import { useLocale } from '../ui/locale.js';
import { useMoneyText } from '../ui/money.js';
import { PriceWithUnit } from './price.js';

const SERIES = {
  unitPrice: 'blue.6',
  input: 'teal.6',
  cachedInput: 'grape.6',
  output: 'orange.6',
  cacheWrite: 'cyan.6',
  cacheWrite1h: 'indigo.6',
} as const;
type SeriesName = keyof typeof SERIES;

/** The versions of what a model costs: its list price as a chart, and all of them as a list. */
export function ModelHistory({ model }: { model: Shape<'ListedModel'> }) {
  const { t } = useTranslation('visitor');
  const [cursor, setCursor] = useState<string>();
  const history = useShown('/api/public/prices/{model}/history', {
    path: { model: model.id },
    query: { limit: 50, ...(cursor === undefined ? {} : { cursor }) },
  });
  const columns = useColumns(model);
  return (
    <Stack>
      {history.data && <PriceChart model={model} versions={history.data.items} />}
      <DataList
        label={t('market.historyList')}
        query={history}
        columns={columns}
        rowKey={(version) => `${version.kind} ${version.group} ${version.effectiveFrom}`}
        empty={{ title: t('market.historyEmpty'), hint: t('market.historyEmptyHint') }}
        pager={{ cursor, go: setCursor }}
      />
    </Stack>
  );
}

function PriceChart({
  model,
  versions,
}: {
  model: Shape<'ListedModel'>;
  versions: readonly Shape<'PriceHistoryEntry'>[];
}) {
  const { t } = useTranslation('visitor');
  const locale = useLocale();
  const money = useMoneyText();
  const points = pointsOf(versions, {
    day: (at) => new Date(at).toLocaleDateString(locale, { dateStyle: 'medium' }),
    now: t('market.now'),
    always: t('market.always'),
  });
  const names = (Object.keys(SERIES) as SeriesName[]).filter((name) =>
    points.some(({ values }) => values[name] !== undefined),
  );
  if (points.length < 2) return null;
  const labelOf = (name: SeriesName) =>
    name === 'unitPrice' ? t('market.columns.price') : t(`market.tokens.${name}`);
  return (
    <Chart
      kind="step"
      label={t('market.historyChart', { model: model.id })}
      points={points}
      series={names.map((name) => ({ name, label: labelOf(name), color: SERIES[name] }))}
      text={money}
      height={200}
    />
  );
}

/** The versions of the list price from the oldest to the newest, and today, so that the price in force is drawn as a line. */
function pointsOf(
  versions: readonly Shape<'PriceHistoryEntry'>[],
  words: { day: (at: string) => string; now: string; always: string },
): ChartPoint[] {
  const prices = versions.filter(({ kind }) => kind === 'price').reverse();
  const point = ({ price }: Shape<'PriceHistoryEntry'>, at: string): ChartPoint => ({
    at,
    values: { ...price },
  });
  return prices.flatMap((version) => {
    const from = version.effectiveFrom === null ? words.always : words.day(version.effectiveFrom);
    const start = point(version, from);
    return version.state === 'in_force' ? [start, point(version, words.now)] : [start];
  });
}

function useColumns(model: Shape<'ListedModel'>): ListColumn<Shape<'PriceHistoryEntry'>>[] {
  const { t } = useTranslation('visitor');
  return [
    timeColumn('effectiveFrom', t('market.columns.from'), t('market.always')),
    column('what', t('market.columns.what'), ({ kind, group }) =>
      t(`market.kinds.${kind}`, { group: group ?? '' }),
    ),
    column('price', t('market.columns.price'), (version) => <Value version={version} unit={model.unit} />),
    column('state', t('market.columns.version'), ({ state }) => t(`market.states.${state}`)),
  ];
}

function Value({
  version,
  unit,
}: {
  version: Shape<'PriceHistoryEntry'>;
  unit: Shape<'ListedModel'>['unit'];
}) {
  const { t } = useTranslation('visitor');
  const locale = useLocale();
  if (version.kind === 'multiplier' && version.multiplier !== null)
    return `× ${exactDecimal(version.multiplier, locale)}`;
  if (version.price === null) return t('market.withdrawn');
  return <PriceWithUnit price={version.price} unit={version.kind === 'rule' ? 'call' : unit} />;
}
