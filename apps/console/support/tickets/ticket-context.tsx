import { Card, Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { type Shape, useRead } from '../../api/client.js';
import { mayAny, useSession } from '../../shell/session.js';
import { FactGrid } from '../../ui/lists/facts.js';
import { TextLink } from '../../ui/links.js';
import { Money } from '../../ui/money.js';
import { Loaded } from '../../ui/states.js';
import { SmallPrint } from '../../ui/texts.js';
import { Ago } from '../../ui/time/when.js';
import type { AccountRecord } from '../accounts/found-account.js';
import { Frozen } from '../accounts/frozen.js';
import { StaffChargeBadge } from '../charges/charge-state.js';
import { AssigneeField } from './assignee.js';
import { StaffTicketBadge, TicketLink } from './ticket-columns.js';

const LATEST = 5;

/** Context about the customer, beside a ticket. */
export function TicketContext({ ticket }: { ticket: Shape<'StaffTicket'> }) {
  const seesUsage = mayAny(useSession(), ['support', 'finance']);
  return (
    <Stack component="aside" gap="md">
      <AssigneeField ticket={ticket} />
      <Customer accountId={ticket.accountId} />
      {seesUsage && <LatestRequests accountId={ticket.accountId} />}
      <OtherTickets ticket={ticket} />
    </Stack>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card withBorder padding="sm" component="section">
      <Stack gap="xs">
        <Title order={2} size="h5">
          {title}
        </Title>
        {children}
      </Stack>
    </Card>
  );
}

function Customer({ accountId }: { accountId: string }) {
  const { t } = useTranslation('support');
  const params = { path: { accountId } };
  const account = useRead('/api/support/accounts/{accountId}', params);
  return (
    <Part title={t('context.customer')}>
      <Loaded query={account} lines={4}>
        {({ account: { name, frozen, ...known }, person }) => (
          <>
            <CustomerName accountId={accountId} name={name} isFrozen={frozen !== null} />
            {person && (
              <Text size="sm" className="model-name">
                {person.email}
              </Text>
            )}
            <CustomerFacts account={known} />
          </>
        )}
      </Loaded>
    </Part>
  );
}

type Known = Pick<AccountRecord['account'], 'balance' | 'spentThisMonth' | 'createdAt'>;

function CustomerFacts({ account: { balance, spentThisMonth, createdAt } }: { account: Known }) {
  const { t } = useTranslation('support');
  const facts = [
    { name: t('balances.main'), value: <Money value={balance.main} short /> },
    { name: t('context.month'), value: <Money value={spentThisMonth} short /> },
    { name: t('balances.held'), value: <Money value={balance.held} short /> },
    { name: t('accounts.created'), value: <Ago at={createdAt} /> },
  ];
  return <FactGrid cols={2} size="sm" facts={facts} />;
}

function CustomerName({ accountId, name, isFrozen }: { accountId: string; name: string; isFrozen: boolean }) {
  return (
    <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
      <TextLink to="/support/accounts/$accountId" params={{ accountId }} fw={600} className="model-name">
        {name}
      </TextLink>
      {isFrozen && <Frozen isFrozen />}
    </Group>
  );
}

function LatestRequests({ accountId }: { accountId: string }) {
  const { t } = useTranslation('support');
  const params = { path: { accountId }, query: { limit: LATEST } };
  const usage = useRead('/api/support/accounts/{accountId}/usage', params);
  return (
    <Part title={t('context.requests')}>
      <Loaded query={usage} lines={4}>
        {({ items }) =>
          items.length === 0 ? (
            <SmallPrint>{t('usage.list.empty.title')}</SmallPrint>
          ) : (
            <Stack component="ul" className="plain-list" gap="xs">
              {items.map((entry) => (
                <Request key={entry.chargeId} accountId={accountId} entry={entry} />
              ))}
            </Stack>
          )
        }
      </Loaded>
    </Part>
  );
}

function Request({ accountId, entry }: { accountId: string; entry: Shape<'UsageEntry'> }) {
  const { chargeId, requestedModel, model, state, at } = entry;
  return (
    <li>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <TextLink
          to="/support/accounts/$accountId"
          params={{ accountId }}
          search={{ tab: 'usage', charge: chargeId }}
          size="sm"
          className="model-name"
        >
          {requestedModel ?? model ?? chargeId}
        </TextLink>
        <StaffChargeBadge state={state} />
      </Group>
      <SmallPrint>
        <Ago at={at} />
      </SmallPrint>
    </li>
  );
}

function OtherTickets({ ticket: { id, accountId } }: { ticket: Shape<'StaffTicket'> }) {
  const { t } = useTranslation('support');
  const params = { query: { accountId, limit: LATEST + 1 } };
  const tickets = useRead('/api/support/tickets', params);
  return (
    <Part title={t('context.tickets')}>
      <Loaded query={tickets} lines={2}>
        {({ items }) => {
          const others = items.filter((each) => each.id !== id).slice(0, LATEST);
          if (others.length === 0) return <SmallPrint>{t('context.noTickets')}</SmallPrint>;
          return (
            <Stack component="ul" className="plain-list" gap="xs">
              {others.map((other) => (
                <Group key={other.id} component="li" justify="space-between" gap="xs" wrap="nowrap">
                  <TicketLink ticket={other} />
                  <StaffTicketBadge ticket={other} />
                </Group>
              ))}
            </Stack>
          );
        }}
      </Loaded>
    </Part>
  );
}
