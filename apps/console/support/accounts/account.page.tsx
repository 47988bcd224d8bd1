import { Card, Group, Stack, Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useList, useRead } from '../../api/client.js';
import { mayAny, useSession } from '../../shell/session.js';
import { CopyLine } from '../../ui/copy.js';
import { BackLink } from '../../ui/links.js';
import { PageFrame } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { PartTabs } from '../../ui/lists/part-tabs.js';
import { Hint } from '../../ui/texts.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { Ago } from '../../ui/time/when.js';
import { AccountActions } from './account-actions.js';
import { AccountGroups } from './account-groups.js';
import { AccountKeys } from './account-keys.js';
import { RequestLimits } from './account-limits.js';
import { AccountRate } from './account-rate.js';
import { AccountUsage } from './account-usage.js';
import type { AccountRecord } from './found-account.js';
import { Frozen } from './frozen.js';
import { FactGrid } from '../../ui/lists/facts.js';
import { Money } from '../../ui/money.js';
import { DataList } from '../../ui/lists/data-list.js';
import { useTicketColumns } from '../tickets/ticket-columns.js';

/** A customer's account: balances, limits, keys, requests and tickets. */
export default function SupportAccountPage() {
  const { t } = useTranslation('support');
  const { accountId } = useParams({ from: '/support/accounts/$accountId' });
  const account = useRead('/api/support/accounts/{accountId}', { path: { accountId } });
  return (
    <PageFrame
      title={account.data?.account.name ?? t('account.title')}
      actions={account.data && <AccountActions found={account.data} />}
    >
      <BackLink to="/support/accounts">{t('account.back')}</BackLink>
      <Loaded query={account} lines={12}>
        {(found) => (
          <Stack gap="lg">
            <Head found={found} />
            <Records found={found} />
          </Stack>
        )}
      </Loaded>
    </PageFrame>
  );
}

function Head({ found: { account, person } }: { found: AccountRecord }) {
  const { t } = useTranslation('support');
  return (
    <Stack gap="xs">
      <Group gap="sm">
        <Frozen isFrozen={account.frozen !== null} />
        <Text size="sm" className="model-name">
          {person?.email ?? t('accounts.noPerson')}
        </Text>
        {person?.disabled && <StatusBadge tone="bad">{t('account.disabled')}</StatusBadge>}
        {person?.totpEnabled && <StatusBadge tone="quiet">{t('account.totp')}</StatusBadge>}
        <Hint>
          {t('account.since')} <Ago at={account.createdAt} />
        </Hint>
      </Group>
      <CopyLine value={account.accountId} label={t('account.id')} />
      {account.frozen && (
        <Text size="sm">
          {t('account.frozenFor')}{' '}
          {account.frozen.reason === 'debt' ? t('account.debt') : account.frozen.reason}
        </Text>
      )}
    </Stack>
  );
}

function About({ found: { account } }: { found: AccountRecord }) {
  const { accountId } = account;
  return (
    <Stack gap="lg">
      <AccountBalances account={account} />
      <AccountRate accountId={accountId} />
      <AccountGroups accountId={accountId} />
      <RequestLimits accountId={accountId} />
    </Stack>
  );
}

/** Only support and finance may see requests; administrators need one of these roles. */
function Records({ found }: { found: AccountRecord }) {
  const { t } = useTranslation('support');
  const seesUsage = mayAny(useSession(), ['support', 'finance']);
  const { accountId } = found.account;
  return (
    <PartTabs
      label={t('account.title')}
      names={t('account.tabs')}
      parts={{
        about: <About found={found} />,
        keys: <AccountKeys keys={found.keys} />,
        usage: seesUsage && <AccountUsage accountId={accountId} />,
        tickets: <AccountTickets accountId={accountId} />,
      }}
    />
  );
}

const BALANCES = ['main', 'held', 'invite', 'refundPending'] as const;

/** Balances, and the limits set by the owner. */
function AccountBalances({ account }: { account: AccountRecord['account'] }) {
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

const PAGE = 25;

function AccountTickets({ accountId }: { accountId: string }) {
  const { t } = useTranslation('support');
  const tickets = useList('/api/support/tickets', { query: { accountId, limit: PAGE } });
  return (
    <DataList
      label={t('queue.newest')}
      query={tickets}
      columns={useTicketColumns().filter(({ id }) => id !== 'account')}
      empty={t('queue.emptyAccount')}
    />
  );
}
