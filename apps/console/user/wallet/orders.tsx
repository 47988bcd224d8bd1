import { Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Shape, useList } from '../../api/client.js';
import {
  column,
  menuColumn,
  moneyColumn,
  paymentColumn,
  rightColumn,
  timeColumn,
} from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { TextLink } from '../../ui/links.js';
import { Section } from '../../ui/page.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { orderTones } from './wallet.js';

const PAGE = 10;

export function Orders() {
  const { t } = useTranslation('wallet');
  const orders = useList('/api/topups', { query: { limit: PAGE } });
  return (
    <Section title={t('orders.title')}>
      <DataList query={orders} columns={useColumns()} empty={t('orders.empty')} />
    </Section>
  );
}

export function OrderBadge({ state }: { state: Shape<'Order'>['state'] }) {
  const { t } = useTranslation('wallet');
  return <StatusBadge tone={orderTones[state]}>{t(`orders.states.${state}`)}</StatusBadge>;
}

function useColumns(): ListColumn<Shape<'Order'>>[] {
  const { t } = useTranslation('wallet');
  return [
    timeColumn('createdAt', t('orders.createdAt')),
    column('state', t('orders.state'), ({ state }) => <OrderBadge state={state} />),
    column('provider', t('orders.provider'), ({ provider }) => t(`provider.${provider}`)),
    moneyColumn('credits', t('orders.credits')),
    paymentColumn('pay', t('orders.pay')),
    rightColumn('do', t('orders.more'), (order) => <OrderLinks order={order} />),
    menuColumn(({ id }) => [{ copy: id }]),
  ];
}

function OrderLinks({ order: { id, state, credits } }: { order: Shape<'Order'> }) {
  const { t } = useTranslation('wallet');
  const isOver = state === 'expired' || state === 'cancelled';
  return (
    <Group gap="sm" justify="flex-end">
      {isOver && (
        <TextLink to="/wallet" search={{ credits }} size="sm">
          {t('orders.again')}
        </TextLink>
      )}
      <TextLink to="/topups/$orderId" params={{ orderId: id }} size="sm">
        {state === 'open' ? t('orders.payNow') : t('orders.details')}
      </TextLink>
    </Group>
  );
}
