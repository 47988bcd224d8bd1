import { Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { everyWord } from '../../api/enumerations.js';
import { type Shape, useList } from '../../api/client.js';
import { column, extra, numberColumn, paymentColumn, rightColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { addDecimals } from '../../ui/decimal.js';
import { Identifier, TwoLines } from '../../ui/texts.js';
import { Money } from '../../ui/money.js';
import { When } from '../../ui/time/when.js';
import { transactionsColumn } from '../columns.js';
import { Filters, useNarrowed } from './filters.js';
import { AcceptLine } from './line-actions.js';
import { MatchOutcome, usePayoutReason } from './match-outcome.js';

const states = everyWord<Shape<'Payout'>['state']>()(
  'differs',
  'missing_there',
  'twice',
  'lines_missing',
  'not_covered',
  'waiting',
  'unlinked',
  'matched',
  'accepted',
);

/** Each payout compared with its payments, minus fees, refunds and disputes. */
export function Payouts() {
  const { t } = useTranslation('reconciliation');
  const filter = useNarrowed(states);
  const payouts = useList('/api/finance/reconciliation/payouts', { query: filter });
  return (
    <Stack>
      <Filters of="payouts" states={states} filter={filter} />
      <DataList
        query={payouts}
        columns={useColumns()}
        name="payouts"
        rowKey={({ provider: at, payoutId }) => `${at} ${payoutId}`}
        empty={t('payouts.empty')}
      />
    </Stack>
  );
}

const parts = ['payments', 'refunds', 'disputes', 'adjustments', 'fees'] as const;

function useColumns(): ListColumn<Shape<'Payout'>>[] {
  const { t } = useTranslation('reconciliation');
  const reasonOf = usePayoutReason();
  return [
    column('payout', t('payouts.one'), (payout) => <PayoutName payout={payout} />),
    column('state', t('state'), (payout) => <MatchOutcome state={payout.state} reason={reasonOf(payout)} />),
    ...parts.map((part) => paymentColumn(part, t(`payouts.parts.${part}`))),
    rightColumn('sum', t('payouts.sum'), (payout) => (
      <Money value={addDecimals(...parts.map((part) => payout[part]))} currency={payout.currency} />
    )),
    paymentColumn('amount', t('payouts.amount')),
    transactionsColumn('transactionIds', t('transactions')),
    column('do', t('payments.do'), (payout) => <Action payout={payout} />),
    extra(numberColumn('lines', t('payouts.lines'))),
    extra(column('bank', t('payouts.bank'), ({ bankLineId }) => <Identifier>{bankLineId}</Identifier>)),
  ];
}

function PayoutName({ payout: { payoutId, at, provider } }: { payout: Shape<'Payout'> }) {
  const { t } = useTranslation('reconciliation');
  const source = (
    <>
      {t(`providers.${provider}`)} · <When at={at} />
    </>
  );
  return <TwoLines first={<Identifier>{payoutId}</Identifier>} second={source} />;
}

const ACCEPTABLE = ['differs', 'unlinked', 'lines_missing', 'not_covered'];

/** What the provider does not correct can be accepted. */
function Action({ payout: { provider, state, lineIds } }: { payout: Shape<'Payout'> }) {
  const [lineId] = lineIds;
  if (lineId === undefined || !ACCEPTABLE.includes(state)) return '–';
  return <AcceptLine provider={provider} lineId={lineId} />;
}
