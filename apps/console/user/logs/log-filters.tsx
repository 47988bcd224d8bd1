import { Button } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { chargeStages } from '../../api/enumerations.js';
import { addDays, today } from '../../finance/utc-days.js';
import { useFilter } from '../../ui/address.js';
import { DayRange } from '../../ui/forms/day-range.js';
import { Choice, FilterSelect, optionsOf } from '../../ui/lists/choice.js';
import { Narrowed } from '../../ui/lists/narrowed.js';
import { SearchField } from '../../ui/lists/search-field.js';
import { SHORTEST_ID } from '../../ui/patterns.js';
import { When } from '../../ui/time/when.js';
import { isNarrowed } from '../../ui/search.js';
import { useKeys } from '../keys.js';
import { usageRanges } from '../usage/usage-search.js';
import { WorkFilters } from '../usage/work-filters.js';
import { Toolbar } from '../../ui/lists/toolbar.js';

const route = getRouteApi('/user/logs');
const DAYS = 'days';
const TIMES = [...usageRanges, DAYS] as const;
const NOTHING = {
  range: undefined,
  from: undefined,
  to: undefined,
  at: undefined,
  keyId: undefined,
  model: undefined,
  group: undefined,
  family: undefined,
  state: undefined,
  id: undefined,
};
/** What keys begin with. A whole key is secret and must not get into the address. */
const KEY = /^sk-/;

export function LogFilters() {
  const { t } = useTranslation('calls');
  const search = route.useSearch();
  const set = useFilter({ replace: false });
  const { charge: _open, cursor: _page, ...filter } = search;
  const states = optionsOf(chargeStages, t('chargeStates'));
  return (
    <Toolbar>
      <Finder />
      <Time />
      <WorkFilters search={search} fields={['keyId', 'model', 'family']} />
      <Choice label={t('usage.filters.state')} options={states} param="state" replace={false} width="8rem" />
      <Linked />
      {isNarrowed(filter) && (
        <Button variant="subtle" onClick={() => set(NOTHING)}>
          {t('usage.clear')}
        </Button>
      )}
    </Toolbar>
  );
}

/** Filters that only links set. */
function Linked() {
  const { t } = useTranslation('calls');
  const { at, group } = route.useSearch();
  return (
    <>
      {at !== undefined && (
        <Narrowed label={t('log.allSteps')} clear={{ at: undefined }}>
          <When at={at} />
        </Narrowed>
      )}
      {group !== undefined && (
        <Narrowed label={t('log.allGroups')} clear={{ group: undefined }}>
          {group}
        </Narrowed>
      )}
    </>
  );
}

/** Finds requests by any id, or by the beginning of a key. */
function Finder() {
  const { t } = useTranslation('calls');
  const keys = useKeys().data?.items;
  const set = useFilter({ replace: false });
  const find = (words: string | undefined) => {
    if (!words || !KEY.test(words)) return set({ ...NOTHING, id: words });
    const found = keys?.find(({ prefix }) => prefix !== null && isSame(prefix, words));
    set({ ...NOTHING, ...(found ? { keyId: found.keyId } : { id: words.slice(0, SHOWN_OF_KEY) }) });
  };
  return (
    <SearchField
      label={t('log.find')}
      placeholder={t('log.findHint')}
      param="id"
      take={find}
      w={{ base: '100%', xs: '17rem' }}
      maw={{ base: '100%', xs: '17rem' }}
    />
  );
}

/** Lists show this many characters of each key. */
const SHOWN_OF_KEY = 10;

/** People may type less than the shown prefix, or more. */
function isSame(prefix: string, words: string): boolean {
  return words.startsWith(prefix) || (words.length >= SHORTEST_ID && prefix.startsWith(words));
}

function Time() {
  const { t } = useTranslation('calls');
  const { range, from, to } = route.useSearch();
  const set = useFilter({ replace: false });
  const choose = (time: (typeof TIMES)[number] | undefined) => {
    const days = time === DAYS ? { from: addDays(today(), -6), to: today() } : {};
    set({ from: undefined, to: undefined, at: undefined, ...days, range: time === DAYS ? undefined : time });
  };
  return (
    <>
      <FilterSelect
        label={t('usage.range')}
        options={optionsOf(TIMES, t('usage.ranges'))}
        value={from === undefined ? range : DAYS}
        set={choose}
        width="8rem"
      />
      {from !== undefined && <DayRange from={from} to={to} set={(days) => set({ ...days, at: undefined })} />}
    </>
  );
}
