import { Button, Group, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { families } from '../../api/enumerations.js';
import { addDays, today } from '../../finance/utc-days.js';
import { useFilter } from '../../ui/address.js';
import { DayRange } from '../../ui/forms/day-range.js';
import { Switch } from '../../ui/lists/choice.js';
import { marketQuery, distinctValues } from '../../visitor/market/market.js';
import { useKeys } from '../keys.js';
import { rangeOf, usageRanges } from './usage-search.js';

const route = getRouteApi('/user/usage');
const DAYS = 'days';
const RANGES = [...usageRanges, DAYS] as const;

/** What the chart and the list are narrowed by. */
export function UsageFilters() {
  const { t } = useTranslation('calls');
  const search = route.useSearch();
  const set = useFilter({ replace: false });
  const isNarrowed = [search.keyId, search.model, search.group, search.family].some(Boolean);
  return (
    <Group align="flex-end" gap="sm">
      <Range />
      <WorkFilters />
      {isNarrowed && (
        <Button
          variant="subtle"
          onClick={() => set({ keyId: undefined, model: undefined, group: undefined, family: undefined })}
        >
          {t('usage.clear')}
        </Button>
      )}
    </Group>
  );
}

/** A range up to now, or days to choose. */
function Range() {
  const { t } = useTranslation('calls');
  const search = route.useSearch();
  const set = useFilter({ replace: false });
  const choose = (range: (typeof RANGES)[number]) => {
    const days = range === DAYS ? { from: addDays(today(), -6), to: today() } : {};
    const chosen = range === DAYS || range === '30d' ? undefined : range;
    set({ from: undefined, to: undefined, ...days, range: chosen, at: undefined });
  };
  return (
    <>
      <Switch
        label={t('usage.range')}
        options={RANGES.map((value) => ({ value, label: t(`usage.ranges.${value}`) }))}
        value={rangeOf(search) ?? DAYS}
        set={choose}
      />
      {rangeOf(search) === null && (
        <DayRange from={search.from} to={search.to} set={(days) => set({ ...days, at: undefined })} />
      )}
    </>
  );
}

function WorkFilters() {
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
  ] as const;
  return choices.map(({ name, options }) => (
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
  ));
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
