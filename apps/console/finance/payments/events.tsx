import { Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { everyWord } from '../../api/enumerations.js';
import { type Shape, useList } from '../../api/client.js';
import { codeColumn, column, numberColumn, timeColumn } from '../../ui/lists/columns.js';
import type { ListColumn } from '../../ui/lists/data-list.js';
import { Identifier } from '../../ui/texts.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { StatedList, useStateOf } from './stated-list.js';
import { ServerWords } from '../server-words.js';

const states = everyWord<Shape<'PaymentEvent'>['state']>()('applied', 'ignored', 'suspense', 'waiting');
const tones = { applied: 'good', ignored: 'quiet', suspense: 'waiting', waiting: 'busy' } as const;

/** Events that providers reported, and their outcome. */
export function Events() {
  const { t } = useTranslation('payments');
  const events = useList('/api/finance/payment-events', { query: { state: useStateOf(states) } });
  return (
    <StatedList
      states={states}
      texts={t('events')}
      query={events}
      columns={useColumns()}
      rowKey={({ provider, eventId }) => `${provider} ${eventId}`}
    />
  );
}

function useColumns(): ListColumn<Shape<'PaymentEvent'>>[] {
  const { t } = useTranslation('payments');
  return [
    timeColumn('receivedAt', t('columns.at')),
    column('type', t('events.type'), ({ type }) => (
      <span className="one-line">
        <Identifier>{type}</Identifier>
      </span>
    )),
    codeColumn('paymentId', t('columns.payment')),
    column('state', t('columns.state'), ({ state, detail }) => (
      <Stack gap="hair" align="flex-start">
        <StatusBadge tone={tones[state]}>{t(`events.states.${state}`)}</StatusBadge>
        <ServerWords>
          <Text size="xs">{detail}</Text>
        </ServerWords>
      </Stack>
    )),
    numberColumn('attempts', t('events.attempts')),
  ];
}
