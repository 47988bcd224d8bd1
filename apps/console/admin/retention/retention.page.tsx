import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Item, useRead } from '../../api/client.js';
import { column, numberColumn, timeColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { Duration } from '../../ui/time/duration.js';
import { PageFrame } from '../../ui/page.js';

type Run = Item<'/api/admin/retention'>;

export default function AdminRetentionPage() {
  const { t } = useTranslation('privacy');
  return (
    <PageFrame title={t('retention.title')} about={t('retention.about')}>
      <DataList
        query={useRead('/api/admin/retention')}
        columns={useColumns()}
        rowKey="class"
        empty={{ title: t('retention.empty'), hint: t('retention.about') }}
      />
    </PageFrame>
  );
}

function useColumns(): ListColumn<Run>[] {
  const { t } = useTranslation('privacy');
  return [
    column('class', t('retention.class'), (run) => t(`retention.classes.${run.class}`)),
    column('kept', t('retention.kept'), ({ keptSeconds }) => <Duration seconds={keptSeconds} />),
    column('variable', t('retention.variable'), ({ variable }) => (
      <Text span size="sm" ff="monospace">
        {variable}
      </Text>
    )),
    timeColumn('lastRunAt', t('retention.lastRun'), t('retention.never')),
    numberColumn('removedTotal', t('retention.removed')),
  ];
}
