import { Card } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { FactGrid } from '../../ui/lists/facts.js';
import { Money } from '../../ui/money.js';
import type { AccountRecord } from './found-account.js';

const BALANCES = ['main', 'held', 'invite', 'refundPending'] as const;

/** Balances, and the limits set by the owner. */
export function AccountBalances({ account }: { account: AccountRecord['account'] }) {
  const { t } = useTranslation('support');
  const { balance, spentThisMonth, monthlyLimit, lowBalanceThreshold, inviteCode } = account;
  const facts = [
    ...BALANCES.map((name) => ({ name: t(`balances.${name}`), value: <Money value={balance[name]} /> })),
    { name: t('balances.spent'), value: <Money value={spentThisMonth} /> },
    {
      name: t('balances.monthlyLimit'),
      value: monthlyLimit === null ? t('balances.noLimit') : <Money value={monthlyLimit} />,
    },
    {
      name: t('balances.threshold'),
      value: lowBalanceThreshold === null ? t('balances.noThreshold') : <Money value={lowBalanceThreshold} />,
    },
    { name: t('balances.inviteCode'), value: inviteCode },
  ];
  return (
    <Card withBorder>
      <FactGrid cols={{ base: 2, md: 4 }} facts={facts} />
    </Card>
  );
}
