import { Group, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useFilter } from '../../ui/address.js';
import { DayRange } from '../../ui/forms/day-range.js';
import { marketQuery, distinctValues } from '../../visitor/market.js';
import { useKeys } from '../keys.js';
import { chargeStages, families } from '../../api/enumerations.js';

const route = getRouteApi('/user/usage');

/** What the log is narrowed by. */
export function UsageFilters() {
  const { t } = useTranslation('calls');
  const search = route.useSearch();
  const keys = useKeys().data?.items ?? [];
  const models = useQuery(marketQuery).data ?? [];
  const set = useFilter({ replace: false });
  const choices = [
    { name: 'keyId', options: keys.map(({ keyId, name }) => ({ value: keyId, label: name })) },
    { name: 'model', options: distinctValues(models, ({ id }) => [id]).map(same) },
    {
      name: 'group',
      options: distinctValues(models, ({ groups }) => groups.map(({ group }) => group)).map(same),
    },
    { name: 'family', options: families.map((value) => ({ value, label: t(`families.${value}`) })) },
    { name: 'state', options: chargeStages.map((value) => ({ value, label: t(`chargeStates.${value}`) })) },
  ] as const;
  return (
    <Group align="flex-end" gap="sm">
      <DayRange from={search.from} to={search.to} set={set} />
      {choices.map(({ name, options }) => (
        <Select
          key={name}
          label={t(`usage.filters.${name}`)}
          placeholder={t('usage.any')}
          searchable
          clearable
          clearButtonProps={{
            'aria-label': t('filters.clear', { ns: 'shell', what: t(`usage.filters.${name}`) }),
          }}
          data={withChosen(options, search[name])}
          value={search[name] ?? null}
          onChange={(value) => set({ [name]: value ?? undefined })}
          w={{ base: '100%', xs: '9rem' }}
        />
      ))}
    </Group>
  );
}

interface Option {
  value: string;
  label: string;
}

function same(value: string): Option {
  return { value, label: value };
}

/** The address may name what is gone by now, such as a deleted key. */
function withChosen(options: Option[], chosen: string | undefined): Option[] {
  return chosen === undefined || options.some(({ value }) => value === chosen)
    ? options
    : [...options, same(chosen)];
}
