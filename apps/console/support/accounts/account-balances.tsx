import { Card, SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Money } from '../../ui/money.js';
import type { FoundAccount } from './found-account.js';

const BALANCES = ['main', 'held', 'invite', 'refundPending'] as const;

/** What the account has, and the limits that its owner set. */
export function AccountBalances({ account }: { account: FoundAccount['account'] }) {
  const { t } = useTranslation('support');
  const { balance, spentThisMonth, monthlyLimit, lowBalanceThreshold, inviteCode } = account;
  const limits = [
    { name: 'spent', value: <Money value={spentThisMonth} /> },
    {
      name: 'monthlyLimit',
      value: monthlyLimit === null ? t('balances.noLimit') : <Money value={monthlyLimit} />,
    },
    {
      name: 'threshold',
      value: lowBalanceThreshold === null ? t('balances.noThreshold') : <Money value={lowBalanceThreshold} />,
    },
    { name: 'inviteCode', value: inviteCode },
  ] as const;
  return (
    <Card withBorder>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} component="dl" className="facts">
        {BALANCES.map((name) => (
          <Fact key={name} name={t(`balances.${name}`)}>
            <Money value={balance[name]} />
          </Fact>
        ))}
        {limits.map(({ name, value }) => (
          <Fact key={name} name={t(`balances.${name}`)}>
            {value}
          </Fact>
        ))}
      </SimpleGrid>
    </Card>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <Text size="sm" c="dimmed" component="dt">
        {name}
      </Text>
      <Text fw={600} component="dd" className="model-name">
        {children}
      </Text>
    </div>
  );
}
