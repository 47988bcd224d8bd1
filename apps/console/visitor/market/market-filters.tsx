import { Group, SegmentedControl, Select } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/shape.js';
import { useFilter } from '../../ui/address.js';
import { filterWidth } from '../../ui/lists/choice.js';
import { SearchField } from '../../ui/lists/search-field.js';
import { distinctValues } from './market.js';

const route = getRouteApi('/visitor/marketplace');
const CHOICE = filterWidth('9.5rem');
const SORTS = ['model', '-model', 'vendor', '-vendor', 'price', '-price'] as const;

/** What the marketplace is searched by; each choice is put into the address. */
export function MarketFilters({ models }: { models: readonly Shape<'ListedModel'>[] }) {
  const { t } = useTranslation('visitor');
  const { text, view = 'cards' } = route.useSearch();
  const set = useFilter();
  return (
    <Group align="flex-end" gap="sm">
      <SearchField
        // A change of the address from elsewhere, such as the back button, fills the field again.
        key={text === undefined ? 'empty' : 'filled'}
        label={t('market.search')}
        value={text}
        set={(words) => set({ text: words })}
        maw="none"
      />
      <Choices models={models} set={set} />
      <SegmentedControl
        aria-label={t('market.view')}
        value={view}
        onChange={(chosen) => set({ view: chosen === 'cards' ? undefined : chosen })}
        data={[
          { value: 'cards', label: t('market.cards') },
          { value: 'table', label: t('market.table') },
        ]}
      />
    </Group>
  );
}

interface ChoicesProps {
  models: readonly Shape<'ListedModel'>[];
  set: (change: Record<string, string | undefined>) => void;
}

function Choices({ models, set }: ChoicesProps) {
  const { t } = useTranslation('visitor');
  const search = route.useSearch();
  const families = distinctValues(models, ({ family }) => [family]) as Shape<'ListedModel'>['family'][];
  const groups = distinctValues(models, (model) => model.groups.map(({ group }) => group));
  const choices = [
    { name: 'family', options: families.map((value) => ({ value, label: t(`market.families.${value}`) })) },
    { name: 'vendor', options: distinctValues(models, ({ vendor }) => [vendor]) },
    { name: 'group', options: groups },
  ] as const;
  return (
    <>
      {choices.map(({ name, options }) => (
        <Select
          key={name}
          aria-label={t(`market.${name}`)}
          placeholder={t(`market.${name}`)}
          w={CHOICE}
          clearable
          clearButtonProps={{ 'aria-label': t('market.clear') }}
          data={[...options]}
          value={search[name] ?? null}
          onChange={(value) => set({ [name]: value ?? undefined })}
        />
      ))}
      <Select
        aria-label={t('market.order')}
        placeholder={t('market.sorts.usual')}
        w={CHOICE}
        clearable
        clearButtonProps={{ 'aria-label': t('market.sorts.usual') }}
        data={SORTS.map((value) => ({ value, label: t(`market.sorts.${value}`) }))}
        value={search.sort ?? null}
        onChange={(value) => set({ sort: value ?? undefined })}
      />
    </>
  );
}
