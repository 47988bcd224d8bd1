import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useShown } from '../../api/lists.js';
import { DataList } from '../../ui/lists/data-list.js';
import { timesOfDays } from '../../ui/forms/day-range.js';
import { ButtonLink } from '../../ui/links.js';
import { PageFrame } from '../../ui/page.js';
import { stringifySearch } from '../../ui/search.js';
import { ChargeDetails } from './charge-details.js';
import { useUsageColumns } from './usage-columns.js';
import { UsageFilters } from './usage-filters.js';
import { OpenPanel } from '../../ui/forms/dialog.js';

const route = getRouteApi('/user/usage');
const PAGE = 50;

/** Every request, and what it cost. The filters and the open request are in the address. */
export function UsagePage() {
  const { t } = useTranslation('calls');
  const { charge: _open, cursor, from, to, ...chosen } = route.useSearch();
  const filter = { ...chosen, ...timesOfDays({ from, to }) };
  const isFiltered = Object.keys(filter).length > 0;
  const usage = useShown('/api/usage', { query: { ...filter, limit: PAGE, cursor } });
  const columns = useUsageColumns();
  return (
    <PageFrame
      title={t('usage.title')}
      about={t('usage.about')}
      actions={
        <Button
          component="a"
          href={`/api/usage.csv${stringifySearch(filter)}`}
          download
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
        >
          {t('usage.csv')}
        </Button>
      }
    >
      <UsageFilters />
      <DataList
        label={t('usage.list')}
        query={usage}
        columns={columns}
        columnsName="usage"
        rowKey={({ chargeId }) => chargeId}
        empty={isFiltered ? { title: t('usage.noMatch'), hint: t('usage.noMatchHint') } : firstCall(t)}
        isPaged
      />
      <OpenPanel param="charge" size="xl" title={t('charge.title')}>
        {(id) => <ChargeDetails id={id} />}
      </OpenPanel>
    </PageFrame>
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
