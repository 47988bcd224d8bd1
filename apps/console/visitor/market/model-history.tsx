import { Stack } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Shape, useShown } from '../../api/client.js';
import { column, timeColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { exactDecimal } from '../../ui/decimal.js';
import { useLocale } from '../../ui/locale.js';
import { PriceWithUnit } from './price.js';
import { PriceChart, versionKey } from '../../ui/charts/price-chart.js';

export function ModelHistory({ model }: { model: Shape<'ListedModel'> }) {
  const { t } = useTranslation('visitor');
  const [cursor, setCursor] = useState<string>();
  const history = useShown('/api/public/prices/{model}/history', {
    path: { model: model.id },
    query: { limit: 50, ...(cursor === undefined ? {} : { cursor }) },
  });
  return (
    <Stack>
      {history.data && <Drawn model={model} versions={history.data.items} />}
      <DataList
        label={t('market.historyList')}
        query={history}
        columns={useColumns(model)}
        rowKey={versionKey}
        empty={t('market.historyEmpty')}
        pager={{ cursor, go: setCursor }}
      />
    </Stack>
  );
}

interface DrawnProps {
  model: Shape<'ListedModel'>;
  versions: readonly Shape<'PriceHistoryEntry'>[];
}

function Drawn({ model, versions }: DrawnProps) {
  const { t } = useTranslation('visitor');
  return (
    <PriceChart
      label={t('market.historyChart', { model: model.id })}
      versions={versions}
      now={t('market.now')}
      always={t('market.always')}
      seriesLabel={(name) => (name === 'unitPrice' ? t('market.columns.price') : t(`market.tokens.${name}`))}
      fewest={2}
    />
  );
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

interface ValueProps {
  version: Shape<'PriceHistoryEntry'>;
  unit: Shape<'ListedModel'>['unit'];
}

function Value({ version, unit }: ValueProps) {
  const { t } = useTranslation('visitor');
  const locale = useLocale();
  if (version.kind === 'multiplier' && version.multiplier !== null)
    return `× ${exactDecimal(version.multiplier, locale)}`;
  if (version.price === null) return t('market.withdrawn');
  return <PriceWithUnit price={version.price} unit={version.kind === 'rule' ? 'call' : unit} />;
}
