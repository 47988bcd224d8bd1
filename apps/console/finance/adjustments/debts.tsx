import { Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { api, type GetAnswer, refreshFinance, type Shape, useList } from '../../api/client.js';
import { column, menuColumn, moneyColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { copies } from '../../ui/lists/row-actions.js';
import { CsvLink } from '../../ui/lists/csv-link.js';
import { signOf } from '../../ui/decimal.js';
import { Figure, Figures } from '../../ui/lists/facts.js';
import { Identifier } from '../../ui/texts.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { ModalForm } from '../../ui/forms/modal-form.js';
import { creditsField } from '../../ui/forms/text-fields.js';
import { Money } from '../../ui/money.js';
import { Loaded } from '../../ui/states.js';
import { SmallWhen } from '../../ui/time/when.js';
import { transactionColumn } from '../columns.js';
import { useNote } from '../note.js';
import { ticketField } from '../ticket-field.js';
import { CREDITS } from '../../ui/patterns.js';
import { AccountLink } from '../transaction-links.js';

/** Accounts that owe or are frozen: how much, since when, and why. */
export function Debts() {
  const { t } = useTranslation('adjustments');
  const debts = useList('/api/finance/reports/debts');
  return (
    <Stack>
      <Loaded query={debts} lines={3}>
        {(found) => <Totals report={found} />}
      </Loaded>
      <Group justify="flex-end">
        <CsvLink path="/api/finance/reports/debts.csv" />
      </Group>
      <DataList query={debts} columns={useColumns()} rowKey="accountId" empty={t('debts.empty')} />
    </Stack>
  );
}

function Totals({ report }: { report: GetAnswer<'/api/finance/reports/debts'> }) {
  const { t } = useTranslation('adjustments');
  const { accounts, frozen, debt, owedRewards } = report;
  return (
    <Figures>
      <Figure name={t('debts.accounts')} value={accounts} />
      <Figure name={t('debts.frozen')} value={frozen} />
      <Figure name={t('debts.debt')} value={<Money value={debt} />} />
      <Figure name={t('debts.owedRewards')} value={<Money value={owedRewards} />} />
    </Figures>
  );
}

function useColumns(): ListColumn<Shape<'Debtor'>>[] {
  const { t } = useTranslation('adjustments');
  return [
    column('account', t('account'), ({ accountId }) => <AccountLink id={accountId} />),
    column('why', t('debts.why'), (debtor) => <Why debtor={debtor} />),
    moneyColumn('main', t('debts.main')),
    column('disputes', t('debts.disputes'), (debtor) => <Disputed debtor={debtor} />),
    moneyColumn('writtenOff', t('debts.writtenOff')),
    transactionColumn('transactionId', t('transaction')),
    column('do', t('do'), (debtor) => (signOf(debtor.main) < 0 ? <WriteOff debtor={debtor} /> : '–')),
    menuColumn(({ accountId }) => copies({ account: accountId })),
  ];
}

function Why({ debtor: { frozen, reason, since } }: { debtor: Shape<'Debtor'> }) {
  const { t } = useTranslation('adjustments');
  return (
    <Stack gap="hair" align="flex-start">
      {frozen && <StatusBadge tone="bad">{t('debts.isFrozen')}</StatusBadge>}
      {reason !== null && <Text size="xs">{reason === 'debt' ? t('debts.forDebt') : reason}</Text>}
      <SmallWhen at={since} />
    </Stack>
  );
}

function Disputed({ debtor: { disputes } }: { debtor: Shape<'Debtor'> }) {
  const { t } = useTranslation('adjustments');
  if (disputes.length === 0) return '–';
  return disputes.map(({ disputeId, credits, state }) => (
    <Text key={disputeId} size="xs" component="div">
      <Identifier>{disputeId}</Identifier> <Money value={credits} /> · {t(`debts.disputeStates.${state}`)}
    </Text>
  ));
}

function WriteOff({ debtor: { accountId, name } }: { debtor: Shape<'Debtor'> }) {
  const { t } = useTranslation('adjustments');
  const rule = [CREDITS, t('writeOff.amountWrong')] as const;
  return (
    <ModalForm
      texts={t('writeOff', { name })}
      button={{ size: 'xs' }}
      isDangerous
      fields={{
        ticketId: ticketField(t('ticket'), { missing: t('ticketMissing') }),
        amount: creditsField(t('amount'), { hint: t('writeOff.amountHint'), rule, isOptional: true }),
        note: useNote(),
      }}
      send={async ({ amount, ...values }, requestId) => {
        const body = { ...values, ...(amount === '' ? {} : { amount }), accountId, requestId };
        return (await api.POST('/api/finance/write-offs', { body })).data!;
      }}
      reread={refreshFinance}
      success={({ state }) => t(`outcomes.${state}`)}
    />
  );
}
