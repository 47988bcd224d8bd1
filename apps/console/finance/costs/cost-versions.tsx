import { Group, Stack, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useList } from '../../api/lists.js';
import type { Shape } from '../../api/shape.js';
import { Who } from '../../shell/who.js';
import { column, extra, menuColumn, rightColumn, textColumn } from '../../ui/lists/columns.js';
import { type ListColumn, DataList } from '../../ui/lists/data-list.js';
import { WordsField } from '../../ui/lists/search-field.js';
import { SmallPrint } from '../../ui/texts.js';
import { When } from '../../ui/time/when.js';
import { Cost } from './cost.js';
import { ImportCosts } from './import-costs.js';
import { SetCost } from './set-cost.js';
import { YesFilter } from '../../ui/lists/choice.js';

const route = getRouteApi('/finance/costs');

/** What channels take for models; only what is in force, unless the history is asked for. */
export function CostVersions() {
  const { t } = useTranslation('costs');
  const { channel, model, all } = route.useSearch();
  const versions = useList('/api/finance/upstream-costs', {
    query: { channel, model, inForce: all === 'yes' ? 'false' : 'true' },
  });
  return (
    <Stack>
      <Group justify="space-between" align="flex-end">
        <Group align="flex-end" gap="sm">
          {(['channel', 'model'] as const).map((name) => (
            <WordsField key={name} label={t(`columns.${name}`)} param={name} />
          ))}
          <YesFilter param="all" label={t('versions.all')} />
        </Group>
        <Group gap="xs">
          <ImportCosts />
          <SetCost />
        </Group>
      </Group>
      <DataList
        label={t('tabs.versions')}
        query={versions}
        columns={useColumns()}
        rowKey={({ id }) => id}
        columnsName="upstream-costs"
        empty={{ title: t('versions.empty'), hint: t('versions.emptyHint') }}
        isPaged
      />
    </Stack>
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
    column('from', t('columns.from'), ({ effectiveFrom, until }) => (
      <Stack gap={0}>
        <span>{effectiveFrom === null ? t('versions.always') : <When at={effectiveFrom} />}</span>
        {until !== null && (
          <SmallPrint>
            {t('versions.until')} <When at={until} />
          </SmallPrint>
        )}
      </Stack>
    )),
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
