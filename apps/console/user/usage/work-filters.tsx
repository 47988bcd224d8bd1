import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { families } from '../../api/enumerations.js';
import { Choices, optionsOf } from '../../ui/lists/choice.js';
import { distinctValues } from '../../visitor/market/market.js';
import { marketQuery } from '../../visitor/market/market-query.js';
import { useKeys } from '../keys.js';

type Field = 'keyId' | 'model' | 'group' | 'family';

interface WorkFiltersProps {
  search: { [Name in Field]?: string | undefined };
  fields: readonly Field[];
}

interface Option {
  value: string;
  label: string;
}

export function WorkFilters({ search, fields }: WorkFiltersProps) {
  const { t } = useTranslation('calls');
  const optionsOf = useOptions();
  const choices = fields.map((param) => ({
    param,
    label: t(`usage.filters.${param}`),
    options: withChosen(optionsOf[param], search[param]),
  }));
  return <Choices of={choices} searchable width="8.5rem" />;
}

function useOptions(): Record<Field, Option[]> {
  const { t } = useTranslation('calls');
  const keys = useKeys().data?.items ?? [];
  const models = useQuery(marketQuery).data ?? [];
  return {
    keyId: keys.map(({ keyId, name }) => ({ value: keyId, label: name })),
    model: distinctValues(models, ({ id }) => [id]).map(same),
    group: distinctValues(models, ({ groups }) => groups.map(({ group }) => group)).map(same),
    family: optionsOf(families, t('families')),
  };
}

function same(value: string): Option {
  return { value, label: value };
}

/** The address may name something deleted, such as a key. */
function withChosen(options: Option[], chosen: string | undefined): Option[] {
  return chosen === undefined || options.some(({ value }) => value === chosen)
    ? options
    : [...options, same(chosen)];
}
