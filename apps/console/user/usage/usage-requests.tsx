import { Button } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../api/client.js';
import { chargeStages } from '../../api/enumerations.js';
import { useShown } from '../../api/lists.js';
import { keepShown } from '../../api/queries.js';
import { useFilter } from '../../ui/address.js';
import { ButtonLink } from '../../ui/links.js';
import { Choice } from '../../ui/lists/choice.js';
import { CsvLink } from '../../ui/lists/csv-link.js';
import { DataList, rowsOf } from '../../ui/lists/data-list.js';
import { SearchField } from '../../ui/lists/search-field.js';
import { Toolbar } from '../../ui/lists/toolbar.js';
import { useNow } from '../../ui/now.js';
import { SHORTEST_ID } from '../../ui/patterns.js';
import { Section } from '../../ui/states.js';
import { When } from '../../ui/when.js';
import { useUsageColumns } from './usage-columns.js';
import { listQuery } from './usage-search.js';

const route = getRouteApi('/user/usage');
const PAGE = 50;
const MINUTE_MS = 60_000;

/** Every request of the chart, or of a step of it, and what it cost; or those that an id names. */
export function UsageRequests() {
  const { t } = useTranslation('calls');
  const search = route.useSearch();
  const id = search.id?.trim() ?? '';
  return (
    <Section title={t('usage.requests')}>
      <ListFilters />
      {id.length < SHORTEST_ID ? <Requests /> : <Found id={id} />}
    </Section>
  );
}

function ListFilters() {
  const { t } = useTranslation('calls');
  const search = route.useSearch();
  const nowMs = useNow(MINUTE_MS);
  const set = useFilter({ replace: false });
  return (
    <Toolbar aside={<CsvLink path="/api/usage.csv" query={listQuery(search, nowMs)} />}>
      <SearchField
        label={t('usage.find')}
        placeholder={t('usage.findHint')}
        value={search.id}
        set={(id) => set({ id })}
        w={{ base: '100%', xs: '20rem' }}
      />
      <Choice
        label={t('usage.filters.state')}
        options={chargeStages.map((value) => ({ value, label: t(`chargeStates.${value}`) }))}
        value={search.state}
        set={(state) => set({ state })}
        width="9rem"
      />
      {search.at !== undefined && (
        <Button
          variant="light"
          rightSection={<IconX size={14} aria-hidden />}
          onClick={() => set({ at: undefined })}
          aria-label={t('usage.allSteps')}
        >
          <When at={search.at} />
        </Button>
      )}
    </Toolbar>
  );
}

function Requests() {
  const { t } = useTranslation('calls');
  const search = route.useSearch();
  const nowMs = useNow(MINUTE_MS);
  const query = listQuery(search, nowMs);
  const usage = useShown('/api/usage', { query: { ...query, limit: PAGE, cursor: search.cursor } });
  const { from: _from, to: _to, ...filters } = query;
  const isFiltered =
    Object.values(filters).some((value) => value !== undefined) || (search.from ?? search.at) !== undefined;
  return (
    <DataList
      label={t('usage.list')}
      query={usage}
      columns={useUsageColumns()}
      columnsName="usage"
      rowKey={({ chargeId }) => chargeId}
      empty={isFiltered ? { title: t('usage.noMatch'), hint: t('usage.noMatchHint') } : firstCall(t)}
      isPaged
    />
  );
}

/** By id, whenever they were. */
function Found({ id }: { id: string }) {
  const { t } = useTranslation('calls');
  const found = $api.useQuery('get', '/api/requests', { params: { query: { id } } }, keepShown);
  return (
    <DataList
      label={t('usage.list')}
      query={rowsOf(found, ({ items }) => items)}
      columns={useUsageColumns()}
      columnsName="usage"
      rowKey={({ chargeId }) => chargeId}
      empty={{ title: t('usage.notFound'), hint: t('usage.notFoundHint') }}
    />
  );
}

function firstCall(t: ReturnType<typeof useTranslation<'calls'>>['t']) {
  return {
    title: t('usage.empty'),
    hint: t('usage.emptyHint'),
    action: (
      <ButtonLink to="/playground" variant="default">
        {t('usage.toPlayground')}
      </ButtonLink>
    ),
  };
}
