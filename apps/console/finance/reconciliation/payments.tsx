import { Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { everyWord } from '../../api/enumerations.js';
import { useList } from '../../api/lists.js';
import type { Shape } from '../../api/shape.js';
import { column } from '../../ui/lists/columns.js';
import { CsvLink } from '../../ui/lists/csv-link.js';
import { type ListColumn, DataList } from '../../ui/lists/data-list.js';
import { Identifier } from '../../ui/identifier.js';
import { ButtonLink, TextLink } from '../../ui/links.js';
import { Money } from '../../ui/money.js';
import { Hint, TextLine, SmallPrint } from '../../ui/texts.js';
import { Ago } from '../../ui/time/when.js';
import { TransactionLinks } from '../transaction-links.js';
import { Filters, useNarrowed } from './filters.js';
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

/** Two panes: on the left what the provider reports, on the right what our books have; and between them whether they agree. */
export function Payments() {
  const { t } = useTranslation('reconciliation');
  const filter = useNarrowed(states);
  const matches = useList('/api/finance/reconciliation/payments', { query: filter });
  return (
    <Stack>
      <Filters
        states={states.map((value) => ({ value, label: t(`states.${value}`) }))}
        withProvider
        aside={<CsvLink path="/api/finance/reconciliation/payments.csv" query={filter} />}
      />
      <PaymentDays filter={filter} />
      <DataList
        label={t('payments.title')}
        query={matches}
        columns={useColumns()}
        rowKey={({ provider: at, kind, id }) => `${at} ${kind} ${id}`}
        empty={{
          title: t('payments.empty'),
          hint: t('payments.emptyHint'),
          action: (
            <ButtonLink to="/finance/reconciliation" search={{ tab: 'imports' }} variant="default">
              {t('payments.import')}
            </ButtonLink>
          ),
        }}
        isPaged
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
        {theirs === null ? (
          <Hint>{t('payments.nothingThere')}</Hint>
        ) : (
          <TextLine>
            <Money value={theirs.amount} currency={theirs.currency} /> · <Ago at={theirs.at} />
          </TextLine>
        )}
      </Group>
      <Group gap="xs">
        <Identifier>{id}</Identifier>
        {theirs?.lineIds.map((lineId) => (
          <TextLink
            key={lineId}
            from="/finance/reconciliation"
            to="/finance/reconciliation"
            search={(before) => ({ ...before, line: `${provider}:${lineId}` })}
            resetScroll={false}
            size="xs"
          >
            {t('payments.line', { id: lineId })}
          </TextLink>
        ))}
      </Group>
    </Stack>
  );
}

function Ours({ match: { ours } }: { match: Shape<'Match'> }) {
  const { t } = useTranslation('reconciliation');
  if (ours === null) return <Hint>{t('payments.nothingHere')}</Hint>;
  return (
    <Stack gap="hair">
      <TextLine>
        <Money value={ours.amount} currency={ours.currency} /> · <Ago at={ours.at} />
      </TextLine>
      <TransactionLinks ids={ours.transactionIds} />
    </Stack>
  );
}

const BOOKABLE = ['payment', 'refund', 'dispute'];

const DONE: readonly Shape<'Match'>['state'][] = ['matched', 'accepted'];

/** A button where one click does it, else a word on who has to do what. */
function Action({ match }: { match: Shape<'Match'> }) {
  const { t } = useTranslation('reconciliation');
  const { provider, kind, state, theirs } = match;
  const lineId = theirs?.lineIds[0];
  if (lineId !== undefined && state === 'missing_here' && BOOKABLE.includes(kind))
    return <RecordLine provider={provider} lineId={lineId} />;
  if (lineId !== undefined && state === 'differs') return <AcceptLine provider={provider} lineId={lineId} />;
  if (DONE.includes(state)) return <Hint>{t('payments.next.done')}</Hint>;
  if (state === 'missing_there') return <Hint>{t('payments.next.ask')}</Hint>;
  if (state === 'waiting' || state === 'not_covered')
    return (
      <TextLink to="/finance/reconciliation" search={{ tab: 'imports' }} size="sm">
        {t('payments.import')}
      </TextLink>
    );
  return <Hint>{t('payments.next.look')}</Hint>;
}
