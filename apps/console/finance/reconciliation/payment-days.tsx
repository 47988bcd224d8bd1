import { Group, Paper, ScrollArea, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useShown } from '../../api/lists.js';
import type { Shape } from '../../api/shape.js';
import { addDecimals, signOf } from '../../ui/decimal.js';
import { Money } from '../../ui/money.js';
import { Loaded } from '../../ui/states.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { Day } from '../../ui/time/when.js';
import { matchTones } from './reconciliation.js';
import { TextLink } from '../../ui/links.js';

interface Filter {
  from?: string;
  to?: string;
  provider?: Shape<'Match'>['provider'];
  state?: Shape<'Match'>['state'];
}

/** Each day on one line: the amount of each side, the difference, and how many items are in each state. */
export function PaymentDays({ filter }: { filter: Filter }) {
  const { t } = useTranslation('reconciliation');
  const days = useShown('/api/finance/reconciliation/payment-days', { query: filter });
  return (
    <Loaded query={days} lines={4}>
      {({ days: found }) =>
        found.length > 0 && (
          <Paper withBorder>
            <ScrollArea.Autosize type="auto" mah="22rem">
              <Table className="data-list" aria-label={t('days.title')} verticalSpacing="row" stickyHeader>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>{t('days.day')}</Table.Th>
                    <Table.Th ta="right">{t('payments.theirs')}</Table.Th>
                    <Table.Th>{t('state')}</Table.Th>
                    <Table.Th ta="right">{t('payments.ours')}</Table.Th>
                    <Table.Th ta="right">{t('days.difference')}</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {linesOf(found).map((line) => (
                    <DayLine key={line.key} states={line.states} />
                  ))}
                </Table.Tbody>
              </Table>
            </ScrollArea.Autosize>
          </Paper>
        )
      }
    </Loaded>
  );
}

/** A line for each day, provider and currency: amounts of two currencies are never added up. */
function linesOf(days: readonly Shape<'MatchDay'>[]) {
  const keyOf = ({ day, provider, currency }: Shape<'MatchDay'>) => `${day} ${provider} ${currency}`;
  return [...Map.groupBy(days, keyOf)].map(([key, states]) => ({ key, states }));
}

function DayLine({ states }: { states: readonly Shape<'MatchDay'>[] }) {
  const { t } = useTranslation('reconciliation');
  const { day, provider, currency } = states[0]!;
  const theirs = addDecimals(...states.map((each) => each.theirs));
  const ours = addDecimals(...states.map((each) => each.ours));
  const difference = addDecimals(theirs, signOf(ours) < 0 ? ours.slice(1) : `-${ours}`);
  return (
    <Table.Tr>
      <Table.Td data-label={t('days.day')}>
        <span>
          <TextLink
            from="/finance/reconciliation"
            to="/finance/reconciliation"
            search={(before) => ({ ...before, from: day, to: day, cursor: undefined })}
            resetScroll={false}
            size="sm"
          >
            <Day on={day} />
          </TextLink>{' '}
          <Text span size="xs" c="dimmed">
            {t(`providers.${provider}`)}
          </Text>
        </span>
      </Table.Td>
      <Table.Td ta="right" data-label={t('payments.theirs')}>
        <Money value={theirs} currency={currency} />
      </Table.Td>
      <Table.Td data-label={t('state')}>
        <Group gap="xs">
          {states.map(({ state, items }) => (
            <StatusBadge key={state} tone={matchTones[state]}>
              {t(`states.${state}`)} · {items}
            </StatusBadge>
          ))}
        </Group>
      </Table.Td>
      <Table.Td ta="right" data-label={t('payments.ours')}>
        <Money value={ours} currency={currency} />
      </Table.Td>
      <Table.Td ta="right" data-label={t('days.difference')}>
        <Money value={difference} currency={currency} signed />
      </Table.Td>
    </Table.Tr>
  );
}
