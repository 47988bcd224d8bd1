import { Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Shape, useShown } from '../../api/client.js';
import { column, dayColumn, rightColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn, rowsOf } from '../../ui/lists/data-list.js';
import { addDecimals } from '../../ui/decimal.js';
import { Money } from '../../ui/money.js';
import { SmallPrint } from '../../ui/texts.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { WorkBadge } from './work-state.js';

interface DayLine {
  day: string;
  states: readonly Shape<'ChargeTaskDay'>[];
}

/** One line per day: charges by state, and how much of the holds was charged. */
export function ChargeDays({ times }: { times: { from?: string; to?: string } }) {
  const { t } = useTranslation('reports');
  const report = useShown('/api/finance/reports/charges-tasks', { query: times });
  return (
    <>
      {report.data && (
        <Group gap="sm">
          <StatusBadge tone={report.data.faults === 0 ? 'good' : 'bad'}>
            {t('charges.faults', { count: report.data.faults })}
          </StatusBadge>
          <SmallPrint>{t('utc', { ns: 'finance' })}</SmallPrint>
        </Group>
      )}
      <DataList
        label={t('charges.days')}
        query={rowsOf(report, linesOf)}
        columns={useColumns()}
        rowKey="day"
        empty={t('charges.empty')}
      />
    </>
  );
}

function linesOf({ days }: { days: readonly Shape<'ChargeTaskDay'>[] }): DayLine[] {
  return [...Map.groupBy(days, ({ day }) => day)].map(([day, states]) => ({ day, states }));
}

function useColumns(): ListColumn<DayLine>[] {
  const { t } = useTranslation('reports');
  const sumOf = (states: readonly Shape<'ChargeTaskDay'>[], name: 'amount' | 'settled') =>
    addDecimals(...states.map((state) => state[name]));
  return [
    dayColumn('day', t('dimensions.day')),
    column('states', t('charge.state'), ({ states }) => (
      <Group gap="tiny">
        {states.map(({ state, items }) => (
          <WorkBadge key={state} state={state} count={items} />
        ))}
      </Group>
    )),
    rightColumn('amount', t('charge.held'), ({ states }) => <Money value={sumOf(states, 'amount')} />),
    rightColumn('settled', t('charges.settled'), ({ states }) => <Money value={sumOf(states, 'settled')} />),
  ];
}
