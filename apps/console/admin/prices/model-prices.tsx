import { Stack } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { column, longText, rightColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { ButtonLink } from '../../ui/links.js';
import { type Change, useInForce, useModels } from '../catalog.js';
import { PriceValue, PricesLink } from './change.js';
import { ModelFilters } from '../catalog/model-filters.js';

type PriceChange = Extract<Change, { kind: 'price' }>;

interface Row {
  model: Shape<'Model'>;
  price: PriceChange['price'];
}

/** An alias costs the same as its model and is listed with it. */
export function ModelPrices() {
  const { t } = useTranslation('prices');
  const { text, family } = useSearch({ from: '/admin/prices' });
  const models = useModels();
  const inForce = useInForce();
  const data = models.data &&
    inForce.data && { items: pricedModels(models.data, inForce.data, { text, family }) };
  const error = models.error ?? inForce.error;
  const refetch = () => Promise.all([models.refetch(), inForce.refetch()]);
  return (
    <Stack>
      <ModelFilters />
      <DataList
        texts={t('models.list')}
        query={{ data, error, refetch, isPlaceholderData: false }}
        columns={useColumns(models.data ?? [])}
        rowKey={({ model }) => model.id}
      />
    </Stack>
  );
}

function pricedModels(
  models: readonly Shape<'Model'>[],
  inForce: readonly Change[],
  { text, family }: { text?: string | undefined; family?: string | undefined },
): Row[] {
  const priceOf = new Map(
    inForce.flatMap((change) => (change.kind === 'price' ? [[change.model, change.price]] : [])),
  );
  const words = text?.trim().toLowerCase() ?? '';
  return models
    .filter((model) => model.aliasOf === null && (!family || model.family === family))
    .filter(({ id, ownedBy }) => `${id} ${ownedBy}`.toLowerCase().includes(words))
    .map((model) => ({ model, price: priceOf.get(model.id) ?? null }));
}

function useColumns(models: readonly Shape<'Model'>[]): ListColumn<Row>[] {
  const { t } = useTranslation('prices');
  const aliasesOf = (id: string) => models.filter(({ aliasOf }) => aliasOf === id).map((alias) => alias.id);
  return [
    column('model', t('columns.model'), ({ model }) => <PricesLink model={model.id} />),
    column('family', t('columns.family'), ({ model }) => t(`families.${model.family}`)),
    column('aliases', t('columns.aliases'), ({ model }) => longText(aliasesOf(model.id).join(', '))),
    rightColumn('price', t('columns.price'), ({ model, price }) => (
      <PriceValue price={price} unit={model.unit} />
    )),
    rightColumn('do', t('columns.do'), ({ model }) => (
      <ButtonLink
        to="/admin/prices/propose"
        search={{ model: model.id }}
        variant="default"
        size="compact-sm"
        aria-label={t('propose.forSubject', { subject: model.id })}
      >
        {t('propose.short')}
      </ButtonLink>
    )),
  ];
}
