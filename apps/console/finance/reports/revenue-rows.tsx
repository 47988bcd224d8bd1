import type { UseQueryResult } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { column, extra, moneyColumn, rightColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn, rowsOf } from '../../ui/lists/data-list.js';
import { COSTS, exactDecimal } from '../../ui/decimal.js';
import { Named } from '../../ui/named.js';
import { NarrowLink } from '../../ui/links.js';
import { useLocale } from '../../ui/locale.js';
import { Day } from '../../ui/time/when.js';
import { FamilyName } from './family-name.js';
import { type Basis, type Dimension, openedBy, type RevenueLine, type Within } from './revenue.js';

interface RevenueRowsProps {
  query: Pick<UseQueryResult<Shape<'Revenue'>, unknown>, 'data' | 'error' | 'refetch' | 'isPlaceholderData'>;
  by: Dimension;
  within: Within | null;
  basis: Basis;
}

/** One row per value; opening one breaks it down by another dimension. */
export function RevenueRows({ query, by, within, basis }: RevenueRowsProps) {
  const { t } = useTranslation('reports');
  const isWithin = (row: RevenueLine) => within === null || (row[within.dimension] ?? '') === within.value;
  return (
    <DataList
      label={t('revenue.by')}
      query={rowsOf(query, ({ rows }) => rows.filter(isWithin))}
      columns={useColumns(by, basis)}
      name={`revenue-${basis}`}
      rowKey={(row) => `${row[by] ?? ''} ${within ? (row[within.dimension] ?? '') : ''}`}
      empty={t('revenue.empty')}
    />
  );
}

function useColumns(by: Dimension, basis: Basis): ListColumn<RevenueLine>[] {
  const { t } = useTranslation('reports');
  const locale = useLocale();
  const credits = [
    extra(moneyColumn('averagePrice', t('revenue.averagePrice'))),
    extra(moneyColumn('gross', t('revenue.gross'))),
    moneyColumn('refunds', t('revenue.refunds')),
    moneyColumn('net', t('revenue.net')),
  ];
  const cash = [
    moneyColumn('failedCost', t('revenue.failedCost'), { currency: COSTS }),
    moneyColumn('cost', t('revenue.cost'), { currency: COSTS }),
    moneyColumn('costPerCredit', t('revenue.costPerCredit'), { currency: COSTS }),
  ];
  return [
    column(by, t(`dimensions.${by}`), (row) => <Value row={row} by={by} />),
    rightColumn('charges', t('revenue.charges'), ({ charges }) => exactDecimal(charges, locale)),
    extra(rightColumn('units', t('revenue.units'), ({ units }) => exactDecimal(units, locale))),
    ...(basis === 'credits' ? credits : cash),
  ];
}

function Value({ row, by }: { row: RevenueLine; by: Dimension }) {
  const { t } = useTranslation('reports');
  const value = row[by];
  if (value == null) return t('revenue.none');
  return (
    <NarrowLink search={openedBy(by, value)} className="model-name">
      <NameOf by={by} value={value} />
    </NarrowLink>
  );
}

function NameOf({ by, value }: { by: Dimension; value: string }) {
  if (by === 'day') return <Day on={value} />;
  if (by === 'account') return <Named kind="account" id={value} />;
  return by === 'family' ? <FamilyName family={value} /> : value;
}
