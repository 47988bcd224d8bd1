import { Stack } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Shape, useList } from '../../api/client.js';
import { Choice, YesFilter, optionsOf } from '../../ui/lists/choice.js';
import { column, extra, menuColumn, moneyColumn, timeColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { copies } from '../../ui/lists/row-actions.js';
import { CsvLink } from '../../ui/lists/csv-link.js';
import { DaysFilter } from '../../ui/forms/day-range.js';
import { Identifier, TwoLines } from '../../ui/texts.js';
import { transactionsColumn } from '../columns.js';
import { AccountLink, ChargeLink } from '../transaction-links.js';
import { timesOf } from '../utc-days.js';
import { ChargeDays } from './charge-days.js';
import { WorkBadge, workOutcomes } from './work-state.js';
import { Toolbar } from '../../ui/lists/toolbar.js';

/** Charges compared with their tasks or requests, and the other way round. */
export function Charges() {
  const { t } = useTranslation('reports');
  const { only, from, to, ...search } = useSearch({ from: '/finance/work' });
  const state = workOutcomes.find((each) => each === search.state);
  const times = timesOf({ from, to });
  const filter = { ...times, state, faults: only === 'yes' ? 'true' : 'false' } as const;
  const work = useList('/api/finance/reports/charges-tasks/items', { query: filter });
  return (
    <Stack>
      <Toolbar aside={<CsvLink path="/api/finance/reports/charges-tasks/items.csv" query={filter} />}>
        <Filters />
      </Toolbar>
      <ChargeDays times={times} />
      <DataList
        query={work}
        columns={useColumns()}
        name="charges-tasks"
        rowKey="subject"
        empty={t('charges.empty')}
      />
    </Stack>
  );
}

function Filters() {
  const { t } = useTranslation('reports');
  return (
    <>
      <DaysFilter />
      <Choice
        label={t('charge.state')}
        options={optionsOf(workOutcomes, t('charges.states'))}
        param="state"
      />
      <YesFilter param="only" label={t('charges.onlyFaults')} />
    </>
  );
}

function useColumns(): ListColumn<Shape<'ChargeTaskItem'>>[] {
  const { t } = useTranslation('reports');
  return [
    timeColumn('at', t('charges.at')),
    column('state', t('charge.state'), ({ state }) => <WorkBadge state={state} />),
    column('charge', t('charge.one'), ({ chargeId }) => <ChargeLink id={chargeId} />),
    column('work', t('charges.work'), (item) => <Work item={item} />),
    extra(
      column('model', t('dimensions.model'), ({ model, channel }) =>
        [model, channel].filter(Boolean).join(' · '),
      ),
    ),
    extra(column('account', t('dimensions.account'), ({ accountId }) => <AccountLink id={accountId} />)),
    moneyColumn('amount', t('charge.held')),
    moneyColumn('settled', t('charges.settled')),
    transactionsColumn('transactionIds', t('transaction')),
    menuColumn(({ chargeId, taskId, requestId, state }) => [
      ...copies({ request: requestId, charge: chargeId, task: taskId }),
      { only: { state }, what: t(`charges.states.${state}`) },
    ]),
  ];
}

/** Its task and state, or its request and the answer. */
function Work({ item: { taskId, taskState, requestId, answered } }: { item: Shape<'ChargeTaskItem'> }) {
  const { t } = useTranslation('reports');
  const answer = answered === null ? '' : t('charges.answered', { status: answered });
  return <TwoLines first={<Identifier>{taskId ?? requestId}</Identifier>} second={taskState ?? answer} />;
}
