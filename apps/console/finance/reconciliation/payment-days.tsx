import { Group, Paper, ScrollArea, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Shape, useShown } from '../../api/client.js';
import { addDecimals, signOf } from '../../ui/decimal.js';
import { column, rightColumn } from '../../ui/lists/columns.js';
import type { ListColumn } from '../../ui/lists/data-list.js';
import { PlainTable } from '../../ui/lists/plain-table.js';
import { Money } from '../../ui/money.js';
import { Loaded } from '../../ui/states.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { Day } from '../../ui/time/when.js';
import { matchTones } from './reconciliation.js';
import { NarrowLink } from '../../ui/links.js';

interface Filter {
  from?: string;
  to?: string;
  provider?: Shape<'Match'>['provider'];
  state?: Shape<'Match'>['state'];
}

/** One line per day: both amounts, their difference, and how many items are in each state. */
export function PaymentDays({ filter }: { filter: Filter }) {
  const days = useShown('/api/finance/reconciliation/payment-days', { query: filter });
  return (
    <Loaded query={days} lines={4}>
      {({ days: found }) => found.length > 0 && <DayTable days={found} />}
    </Loaded>
  );
}

function DayTable({ days }: { days: readonly Shape<'MatchDay'>[] }) {
  const { t } = useTranslation('reconciliation');
  return (
    <Paper withBorder>
      <ScrollArea.Autosize type="auto" mah="22rem">
        <PlainTable
          label={t('days.title')}
          columns={useColumns()}
          rows={linesOf(days)}
          rowKey={({ day, provider, currency }) => `${day} ${provider} ${currency}`}
          className="data-list"
          verticalSpacing="row"
          stickyHeader
        />
      </ScrollArea.Autosize>
    </Paper>
  );
}

type DayLine = ReturnType<typeof linesOf>[number];

/** One line per day, provider and currency: amounts in different currencies are never added. */
function linesOf(days: readonly Shape<'MatchDay'>[]) {
  const groups = Map.groupBy(days, ({ day, provider, currency }) => `${day} ${provider} ${currency}`);
  return [...groups.values()].map((states) => {
    const theirs = addDecimals(...states.map((each) => each.theirs));
    const ours = addDecimals(...states.map((each) => each.ours));
    const difference = addDecimals(theirs, signOf(ours) < 0 ? ours.slice(1) : `-${ours}`);
    const { day, provider, currency } = states[0]!;
    return { day, provider, currency, states, theirs, ours, difference };
  });
}

function useColumns(): ListColumn<DayLine>[] {
  const { t } = useTranslation('reconciliation');
  const amount = (name: 'theirs' | 'ours' | 'difference', header: string) =>
    rightColumn(name, header, ({ [name]: value, currency }: DayLine) => (
      <Money value={value} currency={currency} signed={name === 'difference'} />
    ));
  return [
    column('day', t('days.day'), (line) => <DayName line={line} />),
    amount('theirs', t('payments.theirs')),
    column('state', t('state'), ({ states }) => (
      <Group gap="xs">
        {states.map(({ state, items }) => (
          <StatusBadge key={state} tone={matchTones[state]}>
            {t(`states.${state}`)} · {items}
          </StatusBadge>
        ))}
      </Group>
    )),
    amount('ours', t('payments.ours')),
    amount('difference', t('days.difference')),
  ];
}

function DayName({ line: { day, provider } }: { line: DayLine }) {
  const { t } = useTranslation('reconciliation');
  return (
    <span>
      <NarrowLink search={{ from: day, to: day, cursor: undefined }} size="sm">
        <Day on={day} />
      </NarrowLink>{' '}
      <Text span size="xs" c="dimmed">
        {t(`providers.${provider}`)}
      </Text>
    </span>
  );
}
