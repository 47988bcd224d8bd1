import { Group, Stack, Text } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Shape, useList } from '../../api/client.js';
import { Who } from '../../shell/who.js';
import { column, extra, menuColumn, rightColumn, textColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { WordsField } from '../../ui/lists/search-field.js';
import { Toolbar } from '../../ui/lists/toolbar.js';
import { inForceColumn } from '../columns.js';
import { Cost } from './cost.js';
import { ImportCosts } from './import-costs.js';
import { SetCost } from './set-cost.js';
import { YesFilter } from '../../ui/lists/choice.js';

/** What channels charge us for models: current costs, or all versions. */
export function CostVersions() {
  const { t } = useTranslation('costs');
  const { channel, model, all } = useSearch({ from: '/finance/costs' });
  const query = { channel, model, inForce: all === 'yes' ? 'false' : 'true' } as const;
  const costs = useList('/api/finance/upstream-costs', { query });
  return (
    <Stack>
      <Toolbar aside={<Changes />}>
        <WordsField label={t('columns.channel')} param="channel" />
        <WordsField label={t('columns.model')} param="model" />
        <YesFilter param="all" label={t('versions.all')} />
      </Toolbar>
      <DataList query={costs} columns={useColumns()} name="upstream-costs" empty={t('versions.empty')} />
    </Stack>
  );
}

function Changes() {
  return (
    <Group gap="xs">
      <ImportCosts />
      <SetCost />
    </Group>
  );
}

function useColumns(): ListColumn<Shape<'Cost'>>[] {
  const { t } = useTranslation('costs');
  return [
    textColumn('channel', t('columns.channel')),
    textColumn('model', t('columns.model')),
    rightColumn('cost', t('columns.cost'), ({ cost }) => <Cost cost={cost} />),
    column('failures', t('columns.failures'), ({ billsFailures }) =>
      t(billsFailures ? 'versions.billed' : 'versions.notBilled'),
    ),
    inForceColumn(t('columns.from'), { always: t('versions.always'), until: t('versions.until') }),
    extra(
      column('reason', t('columns.reason'), ({ reason, actor }) => (
        <Stack gap={0}>
          <Text size="sm">{reason}</Text>
          <Who actor={actor} />
        </Stack>
      )),
    ),
    menuColumn(({ id, channel, model }) => [
      { copy: id },
      { only: { channel }, what: channel },
      { only: { model }, what: model },
    ]),
  ];
}
