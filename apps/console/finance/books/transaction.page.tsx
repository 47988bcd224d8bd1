import { Stack, Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type GetAnswer, type Shape, useRead } from '../../api/client.js';
import { column, timeColumn } from '../../ui/lists/columns.js';
import { DataList, knownRows, type ListColumn } from '../../ui/lists/data-list.js';
import { Fact, Facts } from '../../ui/lists/facts.js';
import { Identifier } from '../../ui/texts.js';
import { Notice } from '../../ui/notice.js';
import { TextLink } from '../../ui/links.js';
import { Money } from '../../ui/money.js';
import { PageFrame, Section } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { When } from '../../ui/time/when.js';
import { transactionColumn } from '../columns.js';
import { DebitCredit } from '../debit-credit.js';
import { KindOfPosting } from '../kinds.js';
import { AccountLink, ChargeLink, LedgerAccountLink } from '../transaction-links.js';

type Transaction = GetAnswer<'/api/finance/transactions/{transactionId}'>;
type Linked = Transaction['linked'][number];

/** One ledger transaction: its entries, related transactions, and the block that seals it. */
export default function TransactionPage() {
  const { t } = useTranslation('finance');
  const { transactionId } = useParams({ from: '/finance/transactions/$transactionId' });
  const transaction = useRead('/api/finance/transactions/{transactionId}', { path: { transactionId } });
  return (
    <PageFrame title={t('transaction.title', { id: transactionId })}>
      <Loaded query={transaction} lines={10}>
        {(found) => (
          <>
            {found.late && <Late late={found.late} />}
            <Head transaction={found} />
            <Entries entries={found.entries} />
            {found.charge && <Charge charge={found.charge} />}
            {found.linked.length > 0 && <LinkedList linked={found.linked} />}
          </>
        )}
      </Loaded>
    </PageFrame>
  );
}

function Late({ late: { periodId, happenedAt } }: { late: NonNullable<Transaction['late']> }) {
  const { t } = useTranslation('finance');
  return (
    <Notice tone="warning" title={t('transaction.late')}>
      {t('transaction.lateHint')} <When at={happenedAt} />{' '}
      <TextLink to="/finance/periods/$periodId" params={{ periodId }}>
        {t('transaction.latePeriod')}
      </TextLink>
    </Notice>
  );
}

function Head({ transaction }: { transaction: Transaction }) {
  const { t } = useTranslation('finance');
  const { kind, reference, accountId, chargeId, effectiveAt, recordedAt, block } = transaction;
  return (
    <Facts label={t('transaction.head')}>
      <Fact name={t('transaction.kind')} value={<KindOfPosting kind={kind} />} />
      <Fact name={t('transaction.reference')} value={<Identifier>{reference}</Identifier>} />
      <Fact name={t('transaction.effectiveAt')} value={<When at={effectiveAt} />} />
      <Fact name={t('transaction.recordedAt')} value={<When at={recordedAt} />} />
      {accountId !== null && <Fact name={t('transaction.account')} value={<AccountLink id={accountId} />} />}
      {chargeId !== null && <Fact name={t('transaction.charge')} value={<ChargeLink id={chargeId} />} />}
      <Fact
        name={t('transaction.block')}
        value={block === null ? t('transaction.unsealed') : <Seal block={block} />}
      />
    </Facts>
  );
}

function Seal({ block: { number, sealedAt, hash } }: { block: NonNullable<Transaction['block']> }) {
  const { t } = useTranslation('finance');
  return (
    <Stack gap={0}>
      <span>
        {t('transaction.blockNumber', { number })} · <When at={sealedAt} />
      </span>
      <Identifier>{hash}</Identifier>
    </Stack>
  );
}

function Entries({ entries }: { entries: readonly Shape<'LedgerEntry'>[] }) {
  const { t } = useTranslation('finance');
  const lines = entries.map((entry) => ({
    key: String(entry.ordinal),
    unit: entry.unit,
    amount: entry.amount,
    name: <EntryName entry={entry} />,
  }));
  return (
    <Section title={t('transaction.entries')}>
      <DebitCredit label={t('transaction.entries')} heading={t('accounts.code')} lines={lines} />
    </Section>
  );
}

function EntryName({ entry }: { entry: Shape<'LedgerEntry'> }) {
  const { ledgerAccountId, code, model, group, channel } = entry;
  return (
    <Stack gap={0}>
      <LedgerAccountLink id={ledgerAccountId} code={code} />
      <Text size="xs" c="dimmed" className="model-name">
        {[model, group, channel].filter(Boolean).join(' · ')}
      </Text>
    </Stack>
  );
}

function Charge({ charge }: { charge: NonNullable<Transaction['charge']> }) {
  const { t } = useTranslation('finance');
  const { id, amount, settled, released, taskId } = charge;
  return (
    <Section title={t('transaction.charge')}>
      <Facts label={t('transaction.charge')}>
        <Fact name={t('transaction.charge')} value={<ChargeLink id={id} />} />
        <Fact name={t('transaction.held')} value={<Money value={amount} />} />
        {settled !== null && <Fact name={t('transaction.settled')} value={<Money value={settled} />} />}
        {released !== null && <Fact name={t('transaction.released')} value={<Money value={released} />} />}
        {taskId !== null && <Fact name={t('transaction.task')} value={<Identifier>{taskId}</Identifier>} />}
      </Facts>
    </Section>
  );
}

function LinkedList({ linked }: { linked: readonly Linked[] }) {
  const { t } = useTranslation('finance');
  const columns: ListColumn<Linked>[] = [
    transactionColumn('id', t('transaction.one')),
    column('relation', t('transaction.relation'), ({ relation }) => t(`transaction.relations.${relation}`)),
    column('kind', t('transaction.kind'), ({ kind }) => <KindOfPosting kind={kind} />),
    timeColumn('effectiveAt', t('transaction.effectiveAt')),
  ];
  return (
    <Section title={t('transaction.linked')}>
      <DataList query={knownRows(linked)} columns={columns} empty={{ title: '', hint: '' }} />
    </Section>
  );
}
