import { Stack } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { column, extra } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { TextLink } from '../../ui/links.js';
import { Labelled } from '../../ui/texts.js';
import { Availability, NoModels } from './market-cards.js';
import { unitIn } from './market.js';
import { LimitList } from './model-details.js';
import { Headline, PriceWithUnit } from './price.js';

const route = getRouteApi('/visitor/marketplace');

interface MarketTableProps {
  models: Shape<'ListedModel'>[] | undefined;
  query: UseQueryResult<Shape<'ListedModel'>[]>;
}

export function MarketTable({ models, query }: MarketTableProps) {
  const { t } = useTranslation('visitor');
  const { sort } = route.useSearch();
  const navigate = route.useNavigate();
  const columns = useColumns();
  if (models?.length === 0) return <NoModels />;
  const { error, refetch, isPlaceholderData } = query;
  return (
    <DataList
      label={t('market.list')}
      query={{ data: models && { items: models }, error, refetch, isPlaceholderData }}
      columns={columns}
      empty={t('market.empty')}
      sorting={{
        by: sort,
        sort: (by) =>
          void navigate({ search: (before) => ({ ...before, sort: by as typeof sort }), replace: true }),
      }}
      name="market"
    />
  );
}

function useColumns(): ListColumn<Shape<'ListedModel'>>[] {
  const { t } = useTranslation('visitor');
  const { group } = route.useSearch();
  return [
    {
      id: 'model',
      header: t('market.columns.model'),
      sort: 'model',
      cell: (model) => <ModelLink model={model} />,
    },
    column('family', t('market.columns.family'), ({ family }) => t(`market.families.${family}`)),
    { id: 'vendor', header: t('market.columns.vendor'), sort: 'vendor', cell: ({ vendor }) => vendor },
    {
      id: 'price',
      header: t('market.columns.price'),
      sort: 'price',
      cell: (model) => <Headline model={model} group={group} />,
    },
    column('groups', t('market.columns.groups'), (model) => <GroupPrices model={model} />),
    extra(column('limits', t('market.columns.limits'), ({ limits }) => <LimitList limits={limits} />)),
    column('state', t('market.columns.state'), ({ available }) => <Availability available={available} />),
  ];
}

function ModelLink({ model }: { model: Shape<'ListedModel'> }) {
  return (
    <TextLink to="/marketplace/$model" params={{ model: model.id }} size="sm">
      {model.id}
    </TextLink>
  );
}

function GroupPrices({ model }: { model: Shape<'ListedModel'> }) {
  return (
    <Stack gap="hair">
      {model.groups.map(({ group, price, rule }) => (
        <span key={group}>
          <Labelled label={group}>
            <PriceWithUnit price={price} unit={unitIn(model, rule)} />
          </Labelled>
        </span>
      ))}
    </Stack>
  );
}
