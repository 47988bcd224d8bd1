import { Card, SimpleGrid, Skeleton, Stack } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { type GetAnswer, refresh, useRead } from '../../api/client.js';
import { useLive } from '../../shell/live.js';
import { OwnOnly } from '../../shell/own-only.js';
import { signOf } from '../../ui/decimal.js';
import { LargeMoney } from '../../ui/money.js';
import { Hint, SmallPrint } from '../../ui/texts.js';
import { Notice } from '../../ui/notice.js';
import { PageFrame } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { PartTabs } from '../../ui/lists/part-tabs.js';
import { BillingSettings } from './billing-settings.js';
import { Invites } from './invites.js';
import { Orders } from './orders.js';
import { TopUp } from './top-up.js';

/** The calendar is loaded only when needed. */
const Statement = lazy(async () => ({ default: (await import('./statement.js')).Statement }));
const StatementOfMonth = lazy(async () => ({
  default: (await import('./monthly-statement.js')).StatementOfMonth,
}));

export default function WalletPage() {
  const { t } = useTranslation('wallet');
  const parts = {
    'top-up': <Ordering />,
    statement: <LateStatement />,
    invites: <Invites />,
    details: <BillingSettings />,
  };
  return (
    <PageFrame title={t('title')} about={t('about')}>
      <Balances />
      <PartTabs label={t('title')} names={t('tabs')} parts={parts} />
    </PageFrame>
  );
}

function Ordering() {
  const { credits } = useSearch({ from: '/user/wallet' });
  return (
    <Stack gap="xl">
      <OwnOnly>
        <TopUp key={credits} />
      </OwnOnly>
      <Orders />
    </Stack>
  );
}

function LateStatement() {
  return (
    <Suspense fallback={<Skeleton height="24rem" />}>
      <Stack gap="xl">
        <StatementOfMonth />
        <Statement />
      </Stack>
    </Suspense>
  );
}

const EMPTY = { main: '0', held: '0', invite: '0', refundPending: '0' };

function Balances() {
  const account = useRead('/api/account');
  useLive((event, data) => {
    if (event !== 'balance') return;
    const { main, held, invite } = { ...EMPTY, ...(data as Partial<typeof EMPTY>) };
    const shown = account.data?.balance;
    if (shown && (shown.main !== main || shown.held !== held || shown.invite !== invite))
      void refresh('/api/account');
  });
  return (
    <Loaded query={account} lines={4}>
      {(found) => <BalanceCards account={found} />}
    </Loaded>
  );
}

const balanceNames = ['main', 'held', 'invite', 'refundPending'] as const;

function BalanceCards({ account: { balance, frozen } }: { account: GetAnswer<'/api/account'> }) {
  const { t } = useTranslation('wallet');
  const shown = balanceNames.filter((name) => name !== 'refundPending' || signOf(balance[name]) !== 0);
  return (
    <>
      {frozen && (
        <Notice tone="bad" title={t('frozen.title')}>
          {frozen.reason === 'debt' ? t('frozen.debt') : frozen.reason}
        </Notice>
      )}
      <SimpleGrid cols={{ base: 2, md: shown.length }} spacing={{ base: 'xs', xs: 'md' }} className="figures">
        {shown.map((name) => (
          <BalanceCard key={name} name={name} amount={balance[name]} />
        ))}
      </SimpleGrid>
    </>
  );
}

function BalanceCard({ name, amount }: { name: (typeof balanceNames)[number]; amount: string }) {
  const { t } = useTranslation('wallet');
  return (
    <Card withBorder>
      <Hint>{t(`balance.${name}`)}</Hint>
      <LargeMoney value={amount} short />
      <SmallPrint>{t(`balanceHint.${name}`)}</SmallPrint>
    </Card>
  );
}
