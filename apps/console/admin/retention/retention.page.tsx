import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '../../api/client.js';
import type { Item } from '../../api/queries.js';
import { type Column, DataList } from '../../ui/data-list.js';
import { Duration } from '../../ui/duration.js';
import { Page } from '../../ui/page.js';
import { When } from '../../ui/when.js';

type Run = Item<'/api/admin/retention'>;

/** The retention schedule, and what its runs removed. */
export function AdminRetentionPage() {
  const { t } = useTranslation('privacy');
  const runs = $api.useQuery('get', '/api/admin/retention');
  return (
    <Page title={t('retention.title')} about={t('retention.about')}>
      <DataList
        label={t('retention.title')}
        query={runs}
        columns={useColumns()}
        rowKey={(run) => run.class}
        empty={{ title: t('retention.empty'), hint: t('retention.about') }}
      />
    </Page>
  );
}

function useColumns(): Column<Run>[] {
  const { t } = useTranslation('privacy');
  return [
    { id: 'class', header: t('retention.class'), cell: (run) => t(`retention.classes.${run.class}`) },
    {
      id: 'kept',
      header: t('retention.kept'),
      cell: ({ keptSeconds }) => <Duration seconds={keptSeconds} />,
    },
    {
      id: 'variable',
      header: t('retention.variable'),
      cell: ({ variable }) => (
        <Text span size="sm" ff="monospace">
          {variable}
        </Text>
      ),
    },
    {
      id: 'lastRun',
      header: t('retention.lastRun'),
      cell: ({ lastRunAt }) => (lastRunAt === null ? t('retention.never') : <When at={lastRunAt} />),
    },
    {
      id: 'removed',
      header: t('retention.removed'),
      align: 'right',
      cell: ({ removedTotal }) => removedTotal,
    },
  ];
}
