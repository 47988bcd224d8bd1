import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { Choices, SwitchFilter, optionsOf } from '../../ui/lists/choice.js';
import { SearchField } from '../../ui/lists/search-field.js';
import { distinctValues } from './market.js';
import { Toolbar } from '../../ui/lists/toolbar.js';

const SORTS = ['model', '-model', 'vendor', '-vendor', 'price', '-price'] as const;

export function MarketFilters({ models }: { models: readonly Shape<'ListedModel'>[] }) {
  const { t } = useTranslation('visitor');
  return (
    <Toolbar>
      <SearchField label={t('market.search')} param="text" maw="none" />
      <MarketChoices models={models} />
      <SwitchFilter
        param="view"
        label={t('market.view')}
        options={[
          { value: 'cards', label: t('market.cards') },
          { value: 'table', label: t('market.table') },
        ]}
      />
    </Toolbar>
  );
}

function MarketChoices({ models }: { models: readonly Shape<'ListedModel'>[] }) {
  const { t } = useTranslation('visitor');
  const families = distinctValues(models, ({ family }) => [family]) as Shape<'ListedModel'>['family'][];
  const vendors = distinctValues(models, ({ vendor }) => [vendor]);
  const groups = distinctValues(models, (model) => model.groups.map(({ group }) => group));
  const ofFamily = optionsOf(families, t('market.families'));
  const sorts = optionsOf(SORTS, t('market.sorts'));
  return (
    <Choices
      of={[
        { param: 'family', label: t('market.family'), options: ofFamily },
        { param: 'vendor', label: t('market.vendor'), options: vendors.map(same) },
        { param: 'group', label: t('market.group'), options: groups.map(same) },
        { param: 'sort', label: t('market.order'), any: t('market.sorts.usual'), options: sorts },
      ]}
      replace
      width="9.5rem"
    />
  );
}

function same(value: string) {
  return { value, label: value };
}
