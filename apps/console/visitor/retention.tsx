import { Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Item, useRead } from '../api/client.js';
import { column } from '../ui/lists/columns.js';
import { DataList, type ListColumn } from '../ui/lists/data-list.js';
import { Duration } from '../ui/time/duration.js';

type Kept = Item<'/api/public/retention'>;

export function Retention() {
  const { t } = useTranslation('privacy');
  const columns: ListColumn<Kept>[] = [
    column('class', t('retention.class'), (kept) => t(`retention.classes.${kept.class}`)),
    column('kept', t('retention.kept'), ({ keptSeconds }) => <Duration seconds={keptSeconds} />),
  ];
  return (
    <Stack gap="sm">
      <Text size="sm">{t('retention.forGood')}</Text>
      <DataList
        query={useRead('/api/public/retention')}
        columns={columns}
        rowKey="class"
        empty={{ title: t('retention.empty'), hint: t('retention.forGood') }}
      />
    </Stack>
  );
}
