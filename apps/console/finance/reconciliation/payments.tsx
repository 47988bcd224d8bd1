import { Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { everyWord } from '../../api/enumerations.js';
import { type Shape, useList } from '../../api/client.js';
import { column } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { Hint, Identifier, SmallPrint, TextLine } from '../../ui/texts.js';
import { OpenLink } from '../../ui/links.js';
import { Money } from '../../ui/money.js';
import { Ago } from '../../ui/time/when.js';
import { TransactionLinks } from '../transaction-links.js';
import { Filters, ImportLink, ImportNext, useNarrowed } from './filters.js';
import { AcceptLine, RecordLine } from './line-actions.js';
import { LineDetails } from './line-details.js';
import { MatchOutcome, usePaymentReason } from './match-outcome.js';
import { PaymentDays } from './payment-days.js';
import { OpenPanel } from '../../ui/forms/dialog.js';

const states = everyWord<Shape<'Match'>['state']>()(
  'missing_here',
  'missing_there',
  'differs',
  'twice',
  'not_covered',
  'waiting',
  'matched',
  'accepted',
);

/** The provider's payments on the left, ours on the right, and between them whether they match. */
export function Payments() {
  const { t } = useTranslation('reconciliation');
  const filter = useNarrowed(states);
  const matches = useList('/api/finance/reconciliation/payments', { query: filter });
  return (
    <Stack>
      <Filters of="payments" states={states} filter={filter} />
      <PaymentDays filter={filter} />
      <DataList
        label={t('payments.title')}
        query={matches}
        columns={useColumns()}
        rowKey={({ provider: at, kind, id }) => `${at} ${kind} ${id}`}
        empty={{ ...t('payments.empty'), action: <ImportLink /> }}
      />
      <OpenPanel param="line" title={t('line.title')}>
        {(line) => <LineDetails line={line} />}
      </OpenPanel>
    </Stack>
  );
}

function useColumns(): ListColumn<Shape<'Match'>>[] {
  const { t } = useTranslation('reconciliation');
  const reasonOf = usePaymentReason();
  return [
    column('theirs', t('payments.theirs'), (match) => <Theirs match={match} />),
    column('state', t('state'), (match) => (
      <MatchOutcome state={match.state} reason={reasonOf(match)}>
        {match.daysApart !== null && match.daysApart > 0 && (
          <SmallPrint>{t('payments.daysApart', { count: match.daysApart })}</SmallPrint>
        )}
      </MatchOutcome>
    )),
    column('ours', t('payments.ours'), (match) => <Ours match={match} />),
    column('do', t('payments.do'), (match) => <Action match={match} />),
  ];
}

function Theirs({ match: { provider, kind, id, theirs } }: { match: Shape<'Match'> }) {
  const { t } = useTranslation('reconciliation');
  return (
    <Stack gap="hair">
      <Group gap="xs">
        <Text size="sm" fw={500}>
          {t(`kinds.${kind}`)} · {t(`providers.${provider}`)}
        </Text>
        <Side side={theirs} none={t('payments.nothingThere')} />
      </Group>
      <Group gap="xs">
        <Identifier>{id}</Identifier>
        {theirs?.lineIds.map((lineId) => (
          <OpenLink key={lineId} param="line" value={`${provider}:${lineId}`} size="xs">
            {t('payments.line', { id: lineId })}
          </OpenLink>
        ))}
      </Group>
    </Stack>
  );
}

function Ours({ match: { ours } }: { match: Shape<'Match'> }) {
  const { t } = useTranslation('reconciliation');
  return (
    <Stack gap="hair">
      <Side side={ours} none={t('payments.nothingHere')} />
      {ours && <TransactionLinks ids={ours.transactionIds} />}
    </Stack>
  );
}

interface SideProps {
  side: { amount: string; currency: string; at: string } | null;
  none: string;
}

function Side({ side, none }: SideProps) {
  if (side === null) return <Hint>{none}</Hint>;
  return (
    <TextLine>
      <Money value={side.amount} currency={side.currency} /> · <Ago at={side.at} />
    </TextLine>
  );
}

const BOOKABLE = ['payment', 'refund', 'dispute'];

const DONE: readonly Shape<'Match'>['state'][] = ['matched', 'accepted'];

/** A button if one click is enough, otherwise who has to do what. */
function Action({ match: { provider, kind, state, theirs } }: { match: Shape<'Match'> }) {
  const { t } = useTranslation('reconciliation');
  const lineId = theirs?.lineIds[0];
  if (lineId !== undefined && state === 'missing_here' && BOOKABLE.includes(kind))
    return <RecordLine provider={provider} lineId={lineId} />;
  if (lineId !== undefined && state === 'differs') return <AcceptLine provider={provider} lineId={lineId} />;
  if (DONE.includes(state)) return <Hint>{t('payments.next.done')}</Hint>;
  if (state === 'missing_there') return <Hint>{t('payments.next.ask')}</Hint>;
  if (state === 'waiting' || state === 'not_covered') return <ImportNext />;
  return <Hint>{t('payments.next.look')}</Hint>;
}
