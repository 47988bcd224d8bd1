import { Group } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/shape.js';
import { Choice, SwitchFilter } from '../../ui/lists/choice.js';
import { SearchField } from '../../ui/lists/search-field.js';
import { distinctValues } from './market.js';

const route = getRouteApi('/visitor/marketplace');
const WIDTH = '9.5rem';
const SORTS = ['model', '-model', 'vendor', '-vendor', 'price', '-price'] as const;

/** What the marketplace is searched by; each choice is put into the address. */
export function MarketFilters({ models }: { models: readonly Shape<'ListedModel'>[] }) {
  const { t } = useTranslation('visitor');
  const { text } = route.useSearch();
  return (
    <Group align="flex-end" gap="sm">
      <SearchField
        // A change of the address from elsewhere, such as the back button, fills the field again.
        key={text === undefined ? 'empty' : 'filled'}
        label={t('market.search')}
        param="text"
        maw="none"
      />
      <Choices models={models} />
      <SwitchFilter
        param="view"
        label={t('market.view')}
        options={[
          { value: 'cards', label: t('market.cards') },
          { value: 'table', label: t('market.table') },
        ]}
      />
    </Group>
  );
}

function Choices({ models }: { models: readonly Shape<'ListedModel'>[] }) {
  const { t } = useTranslation('visitor');
  const families = distinctValues(models, ({ family }) => [family]) as Shape<'ListedModel'>['family'][];
  const groups = distinctValues(models, (model) => model.groups.map(({ group }) => group));
  const choices = [
    { name: 'family', options: families.map((value) => ({ value, label: t(`market.families.${value}`) })) },
    { name: 'vendor', options: distinctValues(models, ({ vendor }) => [vendor]).map(same) },
    { name: 'group', options: groups.map(same) },
  ] as const;
  return (
    <>
      {choices.map(({ name, options }) => (
        <Choice key={name} param={name} label={t(`market.${name}`)} options={options} width={WIDTH} />
      ))}
      <Choice
        param="sort"
        label={t('market.order')}
        any={t('market.sorts.usual')}
        options={SORTS.map((value) => ({ value, label: t(`market.sorts.${value}`) }))}
        width={WIDTH}
      />
    </>
  );
}

function same(value: string) {
  return { value, label: value };
}
