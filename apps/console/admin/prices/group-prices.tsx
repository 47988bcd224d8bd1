import { Group as Row } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { column, rightColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn, rowsOf } from '../../ui/lists/data-list.js';
import { exactDecimal } from '../../ui/decimal.js';
import { ButtonLink } from '../../ui/links.js';
import { useLocale } from '../../ui/locale.js';
import { Money } from '../../ui/money.js';
import { GroupLink } from '../catalog/group-price.js';
import { useGroups } from '../catalog.js';

export function GroupPrices() {
  const { t } = useTranslation('prices');
  return (
    <DataList texts={t('groups.list')} query={rowsOf(useGroups())} columns={useColumns()} rowKey="name" />
  );
}

function useColumns(): ListColumn<Shape<'Group'>>[] {
  const { t } = useTranslation('prices');
  const locale = useLocale();
  return [
    column('group', t('columns.group'), ({ name }) => <GroupLink name={name} />),
    rightColumn('models', t('columns.models'), ({ models }) => models.length),
    rightColumn('multiplier', t('columns.multiplier'), ({ multiplier }) =>
      multiplier === null ? t('value.withdrawn') : `× ${exactDecimal(multiplier, locale)}`,
    ),
    column('rule', t('columns.rule'), ({ fixedPerCall }) =>
      fixedPerCall === null ? (
        t('value.listPrices')
      ) : (
        <span>
          <Money value={fixedPerCall} /> {t('value.eachCall')}
        </span>
      ),
    ),
    rightColumn('do', t('columns.do'), ({ name }) => <Propose group={name} />),
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
