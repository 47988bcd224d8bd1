import { Group, Table, Paper } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Shape, useRead } from '../../api/client.js';
import { COSTS } from '../../ui/decimal.js';
import { Fact, Facts, Figure, Figures } from '../../ui/lists/facts.js';
import { Identifier } from '../../ui/texts.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { Money } from '../../ui/money.js';
import { PageFrame, Section } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { When } from '../../ui/time/when.js';
import { KindOfPosting } from '../kinds.js';
import { AccountLink, TransactionLinks } from '../transaction-links.js';

const tones = { refused: 'quiet', held: 'busy', settled: 'good', released: 'waiting' } as const;

/** What a charge earned and cost, and all its transactions. */
export default function ChargePage() {
  const { t } = useTranslation('reports');
  const { chargeId } = useParams({ from: '/finance/charges/$chargeId' });
  const charge = useRead('/api/finance/charges/{chargeId}', { path: { chargeId } });
  return (
    <PageFrame title={t('charge.title')}>
      <Loaded query={charge} lines={10}>
        {(found) => (
          <>
            <Totals charge={found} />
            <Head charge={found} />
            {found.costs.length > 0 && <Costs charge={found} />}
            <Transactions charge={found} />
          </>
        )}
      </Loaded>
    </PageFrame>
  );
}

function Totals({ charge }: { charge: Shape<'ChargeMargin'> }) {
  const { t } = useTranslation('reports');
  const { gross, cost, held, costState, operatorLoss } = charge;
  const ofHeld = (
    <>
      {t('charge.held')} <Money value={held} />
    </>
  );
  return (
    <Figures>
      <Figure name={t('revenue.gross')} value={<Money value={gross} />} hint={ofHeld} />
      <Figure
        name={t('revenue.cost')}
        value={<Money value={cost} currency={COSTS} />}
        hint={t(`charge.costStates.${costState}`)}
      />
      <Figure
        name={t('charge.operatorLoss')}
        value={<Money value={operatorLoss} />}
        hint={t('charge.operatorLossHint')}
      />
    </Figures>
  );
}

function Head({ charge }: { charge: Shape<'ChargeMargin'> }) {
  const { t } = useTranslation('reports');
  const { id, accountId, model, group, channel, state, createdAt, resolvedAt, refunds } = charge;
  return (
    <Facts label={t('charge.title')}>
      <Fact name={t('charge.one')} value={<Identifier>{id}</Identifier>} />
      <Fact
        name={t('charge.state')}
        value={<StatusBadge tone={tones[state]}>{t(`charge.states.${state}`)}</StatusBadge>}
      />
      <Fact name={t('dimensions.account')} value={<AccountLink id={accountId} />} />
      <Fact name={t('dimensions.model')} value={[model, group, channel].filter(Boolean).join(' · ')} />
      <Fact name={t('charge.createdAt')} value={<When at={createdAt} />} />
      {resolvedAt !== null && <Fact name={t('charge.resolvedAt')} value={<When at={resolvedAt} />} />}
      {refunds.map((refund) => (
        <Fact key={refund.id} name={t('charge.refund')} value={<Refund refund={refund} />} />
      ))}
    </Facts>
  );
}

function Refund({ refund: { amount, at, reason } }: { refund: Shape<'ChargeMargin'>['refunds'][number] }) {
  return (
    <>
      <Money value={amount} /> · <When at={at} /> · {reason}
    </>
  );
}

function Costs({ charge: { costs } }: { charge: Shape<'ChargeMargin'> }) {
  const { t } = useTranslation('reports');
  return (
    <Section title={t('charge.costs')}>
      <Facts label={t('charge.costs')}>
        {costs.map(({ outcome, channel, units, cost, transactionId, costVersionId }) => (
          <Fact
            key={`${outcome} ${costVersionId} ${transactionId ?? ''}`}
            name={t(`charge.outcomes.${outcome}`)}
            value={
              <Group gap="xs">
                <Money value={cost} currency={COSTS} />
                <span>{channel}</span>
                <span>{t('charge.units', { count: Number(units) })}</span>
                <TransactionLinks ids={[transactionId]} />
              </Group>
            }
          />
        ))}
      </Facts>
    </Section>
  );
}

function Transactions({ charge: { transactions } }: { charge: Shape<'ChargeMargin'> }) {
  const { t } = useTranslation('reports');
  return (
    <Section title={t('charge.transactions')}>
      <Paper withBorder>
        <Table aria-label={t('charge.transactions')}>
          <Table.Tbody>
            {transactions.map(({ id, kind }) => (
              <Table.Tr key={id}>
                <Table.Td>
                  <TransactionLinks ids={[id]} />
                </Table.Td>
                <Table.Td>
                  <KindOfPosting kind={kind} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Paper>
    </Section>
  );
}
