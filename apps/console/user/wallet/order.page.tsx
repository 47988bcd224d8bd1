import { Button, Card, Code, Group, List, Stack, Text } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { api, type Shape, useRead } from '../../api/client.js';
import { useSession } from '../../shell/session.js';
import { ConfirmAction } from '../../ui/forms/confirm-action.js';
import { CopyLine } from '../../ui/copy.js';
import { Fact, Facts } from '../../ui/lists/facts.js';
import { ButtonLink, TextLink } from '../../ui/links.js';
import { Money, useMoneyText } from '../../ui/money.js';
import { Hint } from '../../ui/texts.js';
import { Notice } from '../../ui/notice.js';
import { PageFrame, Section } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { When } from '../../ui/time/when.js';
import { pendingCallOf } from '../playground/pending-call.js';
import { ReceiptButton } from './receipt-link.js';
import { OrderBadge } from './orders.js';
import { refreshMoney } from './wallet.js';

const route = getRouteApi('/user/topups/$orderId');

/** Payments are reported soon after people return from the provider. */
const ASKING_MS = 2_000;

/** Where people return after the checkout. */
export default function OrderPage() {
  const { t } = useTranslation('wallet');
  const { orderId } = route.useParams();
  const order = useOrder(orderId);
  useWhenOver(order.data?.state);
  useReturnToCall(order.data);
  return (
    <PageFrame title={t('order.title')} width={44}>
      <Loaded query={order} lines={8}>
        {(found) => (
          <>
            <Outcome order={found} />
            <About order={found} />
            <Actions order={found} />
            {found.topupId !== null && <ReceiptButton topupId={found.topupId} />}
            <Reversals order={found} />
          </>
        )}
      </Loaded>
      <TextLink to="/wallet">{t('order.toWallet')}</TextLink>
    </PageFrame>
  );
}

/** Polled while it may still be paid. */
function useOrder(orderId: string) {
  return useRead(
    '/api/topups/{orderId}',
    { path: { orderId } },
    { refetchInterval: ({ state }) => (state.data?.state === 'open' ? ASKING_MS : false) },
  );
}

/** Rereads the balance after the payment. */
function useWhenOver(state: Shape<'OrderWithReversals'>['state'] | undefined): void {
  const before = useRef(state);
  useEffect(() => {
    if (before.current === 'open' && state !== 'open') void refreshMoney();
    before.current = state;
  }, [state]);
}

/** Resumes the playground call that waited for this order. */
function useReturnToCall(order: Shape<'OrderWithReversals'> | undefined): void {
  const navigate = useNavigate();
  const userId = useSession()?.userId;
  const call = order?.state === 'paid' ? pendingCallOf(order.id, userId) : null;
  useEffect(() => {
    if (call === null) return;
    void navigate({ to: '/playground', search: { kind: call.kind, model: call.model }, replace: true });
  });
}

const tones = {
  open: 'warning',
  paid: 'good',
  disputed: 'bad',
  refunded: 'quiet',
  expired: 'quiet',
  cancelled: 'quiet',
} as const;

function Outcome({ order }: { order: Shape<'OrderWithReversals'> }) {
  const { t } = useTranslation('wallet');
  const { paid } = route.useSearch();
  const { state } = order;
  const shown = state === 'open' && paid !== undefined ? 'confirming' : state;
  return (
    <Notice tone={tones[state]} title={t(`order.outcome.${shown}`)} role="status">
      {t(`order.hint.${shown}`)}
    </Notice>
  );
}

function About({ order }: { order: Shape<'OrderWithReversals'> }) {
  const { t } = useTranslation('wallet');
  const price = useMoneyText(order.currency)(order.rate);
  const { id, state, credits, pay, currency, provider, createdAt, expiresAt, paidAt } = order;
  return (
    <Card withBorder>
      <Facts label={t('order.title')}>
        <Fact name={t('orders.state')} value={<OrderBadge state={state} />} />
        <Fact name={t('topUp.youGet')} value={<Money value={credits} />} />
        <Fact name={t('topUp.youPay')} value={<Money value={pay} currency={currency} />} />
        <Fact name={t('order.rate')} value={t('topUp.rate', { price })} />
        <Fact name={t('orders.provider')} value={t(`provider.${provider}`)} />
        <Fact name={t('orders.createdAt')} value={<When at={createdAt} />} />
        {paidAt !== null && <Fact name={t('order.paidAt')} value={<When at={paidAt} />} />}
        {state === 'open' && <Fact name={t('order.expiresAt')} value={<When at={expiresAt} />} />}
        <Fact name={t('order.id')} value={<CopyLine value={id} label={t('order.id')} />} />
      </Facts>
    </Card>
  );
}

function Actions({ order }: { order: Shape<'OrderWithReversals'> }) {
  const { t } = useTranslation('wallet');
  const { state, credits, checkoutUrl, instructions } = order;
  if (state === 'expired' || state === 'cancelled') {
    return (
      <ButtonLink to="/wallet" search={{ credits }} w="fit-content">
        {t('order.again')}
      </ButtonLink>
    );
  }
  if (state !== 'open') return null;
  return (
    <Stack>
      {instructions !== null && <Instructions>{instructions}</Instructions>}
      <Group>
        {checkoutUrl !== null && (
          <Button component="a" href={checkoutUrl}>
            {t('order.pay')}
          </Button>
        )}
        <Cancel orderId={order.id} />
      </Group>
    </Stack>
  );
}

function Instructions({ children }: { children: string }) {
  const { t } = useTranslation('wallet');
  return (
    <Section title={t('order.instructions')}>
      <Code block>{children}</Code>
    </Section>
  );
}

function Cancel({ orderId }: { orderId: string }) {
  const { t } = useTranslation('wallet');
  return (
    <ConfirmAction
      texts={t('order.cancel')}
      act={() => api.POST('/api/topups/{orderId}/cancel', { params: { path: { orderId } } })}
      reread={refreshMoney}
    />
  );
}

function Reversals({ order }: { order: Shape<'OrderWithReversals'> }) {
  const { t } = useTranslation('wallet');
  const { refunds, disputes, currency } = order;
  if (refunds.length + disputes.length === 0) return null;
  return (
    <Section title={t('order.reversals')}>
      <List spacing="sm">
        {refunds.map((refund) => (
          <List.Item key={refund.at}>
            <Text fw={600}>{t(`order.refund.${refund.state}`)}</Text>
            <Reversed of={refund} currency={currency} />
          </List.Item>
        ))}
        {disputes.map((dispute) => (
          <List.Item key={dispute.at}>
            <Text fw={600}>{t(`order.dispute.${dispute.state}`)}</Text>
            <Reversed of={dispute} currency={currency} />
            <Hint>{t(`order.disputeHint.${dispute.state}`)}</Hint>
          </List.Item>
        ))}
      </List>
    </Section>
  );
}

interface ReversedProps {
  of: { pay: string; credits: string; at: string; endedAt: string | null };
  currency: string;
}

function Reversed({ of: { pay, credits, at, endedAt }, currency }: ReversedProps) {
  return (
    <Text size="sm">
      <Money value={pay} currency={currency} /> · <Money value={credits} /> · <When at={endedAt ?? at} />
    </Text>
  );
}
