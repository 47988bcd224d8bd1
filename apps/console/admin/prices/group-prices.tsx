import { Group as Row } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Column, DataList } from '../../ui/data-list.js';
import { exactDecimal } from '../../ui/decimal.js';
import { ButtonLink, TextLink } from '../../ui/links.js';
import { useLocale } from '../../ui/locale.js';
import { Money } from '../../ui/money.js';
import { type Group, useGroups } from '../catalog.js';

/** What the groups make of the list prices. */
export function GroupPrices() {
  const { t } = useTranslation('prices');
  const groups = useGroups();
  const { data, error, refetch, isPlaceholderData } = groups;
  return (
    <DataList
      label={t('groups.label')}
      query={{ data: data && { items: data }, error, refetch: refetch as never, isPlaceholderData }}
      columns={useColumns()}
      rowKey={({ name }) => name}
      empty={{ title: t('groups.empty'), hint: t('groups.emptyHint') }}
    />
  );
}

function useColumns(): Column<Group>[] {
  const { t } = useTranslation('prices');
  const locale = useLocale();
  return [
    {
      id: 'group',
      header: t('columns.group'),
      cell: ({ name }) => (
        <TextLink to="/admin/groups" search={{ group: name }} size="sm">
          {name}
        </TextLink>
      ),
    },
    { id: 'models', header: t('columns.models'), align: 'right', cell: ({ models }) => models.length },
    {
      id: 'multiplier',
      header: t('columns.multiplier'),
      align: 'right',
      cell: ({ multiplier }) =>
        multiplier === null ? t('value.withdrawn') : `× ${exactDecimal(multiplier, locale)}`,
    },
    {
      id: 'rule',
      header: t('columns.rule'),
      cell: ({ fixedPerCall }) =>
        fixedPerCall === null ? (
          t('value.listPrices')
        ) : (
          <span>
            <Money value={fixedPerCall} /> {t('value.eachCall')}
          </span>
        ),
    },
    { id: 'do', header: t('columns.do'), align: 'right', cell: ({ name }) => <Propose group={name} /> },
  ];
}

function Propose({ group }: { group: string }) {
  const { t } = useTranslation('prices');
  const kinds = ['multiplier', 'rule'] as const;
  return (
    <Row gap="xs" justify="flex-end">
      {kinds.map((kind) => (
        <ButtonLink
          key={kind}
          to="/admin/prices/propose"
          search={{ group, kind }}
          variant="default"
          size="compact-sm"
          aria-label={t('propose.forSubject', { subject: `${t(`kinds.${kind}`)} ${group}` })}
        >
          {t(`propose.${kind}`)}
        </ButtonLink>
      ))}
    </Row>
  );
}
