import { Text } from '@mantine/core';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { getRouteApi, Navigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../api/client.js';
import { PageFrame } from '../ui/page.js';
import { ErrorState } from '../ui/states.js';
import { MarketCards } from './market/market-cards.js';
import { MarketFilters } from './market/market-filters.js';
import { MarketTable } from './market/market-table.js';
import { chosenModels } from './market/market.js';
import { marketQuery } from './market/market-query.js';
import { useOwnGroups } from './market/price.js';

const route = getRouteApi('/visitor/marketplace');

export default function MarketplacePage() {
  const { t } = useTranslation('visitor');
  const search = route.useSearch();
  const market = useQuery(marketQuery);
  const groups = useOwnGroups();
  const models = market.data && chosenModels(market.data, { ...search, groups });
  if (search.model !== undefined)
    return <Navigate to="/marketplace/$model" params={{ model: search.model }} replace />;
  return (
    <PageFrame title={t('market.title')} about={t('market.about')}>
      <MarketFilters models={market.data ?? []} />
      {models && (
        <Text size="sm" c="dimmed" role="status">
          {t('market.count', { count: models.length })}
        </Text>
      )}
      <Models models={models} market={market} />
    </PageFrame>
  );
}

interface ModelsProps {
  models: Shape<'ListedModel'>[] | undefined;
  market: UseQueryResult<Shape<'ListedModel'>[]>;
}

function Models({ models, market }: ModelsProps) {
  const { view } = route.useSearch();
  if (market.error && !market.data)
    return <ErrorState error={market.error} retry={() => void market.refetch()} />;
  return view === 'table' ? <MarketTable models={models} query={market} /> : <MarketCards models={models} />;
}
