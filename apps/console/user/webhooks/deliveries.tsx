import { Group, Select, Stack, Text } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { everyWord } from '../../api/enumerations.js';
import { api, refresh, type Shape, useRead, useShown } from '../../api/client.js';
import { notify } from '../../shell/notices.js';
import {
  column,
  longText,
  menuColumn,
  numberColumn,
  openColumn,
  rightColumn,
  timeColumn,
} from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { ConfirmAction } from '../../ui/forms/confirm-action.js';
import { CodeLines, CopyLine } from '../../ui/copy.js';
import { useLocale } from '../../ui/locale.js';
import { PlainTable } from '../../ui/lists/plain-table.js';
import { Section } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { StatusBadge, type Tone } from '../../ui/status-badge.js';
import { When } from '../../ui/time/when.js';
import { OpenPanel } from '../../ui/forms/dialog.js';
import { SwitchFilter, optionsOf } from '../../ui/lists/choice.js';
import { ActionButton } from '../../ui/action-button.js';
import { endpointEvents } from './endpoint.js';
import { jsonLines } from '../../ui/code/json-lines.js';

const PAGE = 25;

/** While a delivery is pending, its outcome is soon there. */
const LOOK_AGAIN_MS = 1_000;

/** A delivery that failed and will be sent again is not merely pending. */
function stateOf({ state, attempts }: Pick<Shape<'WebhookDelivery'>, 'state' | 'attempts'>) {
  return state === 'pending' && attempts > 0 ? 'retrying' : state;
}

function DeliveryState({ delivery }: { delivery: Pick<Shape<'WebhookDelivery'>, 'state' | 'attempts'> }) {
  const { t } = useTranslation('webhooks');
  const state = stateOf(delivery);
  return <StatusBadge tone={TONES[state]}>{t(`deliveries.states.${state}`)}</StatusBadge>;
}

const TONES: Record<ReturnType<typeof stateOf>, Tone> = {
  pending: 'busy',
  retrying: 'bad',
  delivered: 'good',
  failed: 'bad',
};

export function Deliveries({ endpoint }: { endpoint: Shape<'WebhookEndpoint'> }) {
  const { t } = useTranslation('webhooks');
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <StateFilter />
        {endpoint.enabled && <ReplaySince endpoint={endpoint} />}
      </Group>
      <DataList query={useDeliveries(endpoint.id)} columns={useColumns()} empty={t('deliveries.empty')} />
      <OpenPanel param="delivery" title={t('delivery.title')}>
        {(id) => <DeliveryDetails endpoint={endpoint} id={id} />}
      </OpenPanel>
    </Stack>
  );
}

/** Polled while a delivery is pending. */
function useDeliveries(endpointId: string) {
  const { state, cursor } = useSearch({ from: '/user/webhooks/$endpointId' });
  const params = { path: { endpointId }, query: { state, cursor, limit: PAGE } };
  return useShown('/api/webhooks/{endpointId}/deliveries', params, {
    refetchInterval: ({ state: { data } }) =>
      data?.items.some((each) => each.state === 'pending') ? LOOK_AGAIN_MS : false,
  });
}

const states = everyWord<Shape<'WebhookDelivery'>['state']>()('pending', 'delivered', 'failed');

function StateFilter() {
  const { t } = useTranslation('webhooks');
  return (
    <SwitchFilter
      param="state"
      label={t('deliveries.state')}
      options={(['', ...states] as const).map((value) => ({
        value,
        label: value === '' ? t('deliveries.all') : t(`deliveries.states.${value}`),
      }))}
      replace={false}
    />
  );
}

function useColumns(): ListColumn<Shape<'WebhookDelivery'>>[] {
  const { t } = useTranslation('webhooks');
  return [
    openColumn('delivery', t('deliveries.at'), ({ id, createdAt: at }) => ({ id, at })),
    column('type', t('deliveries.type'), ({ type }) => <EventName type={type} />),
    column('state', t('deliveries.state'), (delivery) => <DeliveryState delivery={delivery} />),
    numberColumn('attempts', t('deliveries.attempts')),
    column('answer', t('deliveries.answer'), ({ lastStatus, lastError }) => lastStatus ?? lastError ?? '–'),
    menuColumn(({ id }) => [{ copy: id }]),
  ];
}

function EventName({ type }: { type: string }) {
  const { t } = useTranslation('webhooks');
  const known = [...EVENTS].find((each) => each === type);
  return known ? t('events')[known] : type;
}

const EVENTS = ['ping', ...endpointEvents] as const;

const HOUR_MS = 3_600_000;
const SPANS = { hour: HOUR_MS, day: 24 * HOUR_MS, week: 7 * 24 * HOUR_MS } as const;
type Span = keyof typeof SPANS;

function SpanField({ span, choose }: { span: Span; choose: (span: Span) => void }) {
  const { t } = useTranslation('webhooks');
  const spans = Object.keys(SPANS) as Span[];
  return (
    <Select
      label={t('deliveries.since')}
      data={optionsOf(spans, t('deliveries.spans'))}
      value={span}
      onChange={(value) => choose(value ?? 'day')}
      allowDeselect={false}
    />
  );
}

function replayFailed(endpointId: string, span: Span) {
  const since = new Date(Date.now() - SPANS[span]).toISOString();
  const body = { since, states: 'failed' } as const;
  return api.POST('/api/webhooks/{endpointId}/replays', { params: { path: { endpointId } }, body });
}

/** For use after an outage of the endpoint. */
function ReplaySince({ endpoint }: { endpoint: Shape<'WebhookEndpoint'> }) {
  const { t } = useTranslation('webhooks');
  const [span, setSpan] = useState<Span>('day');
  const replay = async () => {
    const { data } = await replayFailed(endpoint.id, span);
    notify(t('deliveries.replayed', { count: data!.replayed }));
    await refresh('/api/webhooks/{endpointId}/deliveries');
  };
  return (
    <ConfirmAction texts={t('deliveries.replayFailed')} isDangerous={false} act={replay}>
      <Stack>
        <Text>{t('deliveries.replayHint')}</Text>
        <SpanField span={span} choose={setSpan} />
      </Stack>
    </ConfirmAction>
  );
}

interface DeliveryPath {
  endpointId: string;
  deliveryId: string;
}

function useDelivery(path: DeliveryPath) {
  return useRead(
    '/api/webhooks/{endpointId}/deliveries/{deliveryId}',
    { path },
    { refetchInterval: ({ state }) => (state.data?.state === 'pending' ? LOOK_AGAIN_MS : false) },
  );
}

function DeliveryDetails({ endpoint, id }: { endpoint: Shape<'WebhookEndpoint'>; id: string }) {
  const { t } = useTranslation('webhooks');
  const path = { endpointId: endpoint.id, deliveryId: id };
  const delivery = useDelivery(path);
  return (
    <Loaded query={delivery} lines={10}>
      {(found) => (
        <Stack gap="lg">
          <DeliveryHead delivery={found} />
          {endpoint.enabled && found.state !== 'pending' && <Replay path={path} />}
          <Section title={t('delivery.attempts')}>
            <Attempts delivery={found} />
          </Section>
          <Section title={t('delivery.body')}>
            <CodeLines code={jsonLines(found.body)} copied={found.body} label={t('delivery.body')} />
          </Section>
        </Stack>
      )}
    </Loaded>
  );
}

function DeliveryHead({ delivery }: { delivery: Shape<'WebhookDeliveryDetail'> }) {
  const { t } = useTranslation('webhooks');
  return (
    <>
      <Group justify="space-between">
        <Text fw={600}>
          <EventName type={delivery.type} />
        </Text>
        <DeliveryState delivery={delivery} />
      </Group>
      <CopyLine value={delivery.eventId} label={t('delivery.id')} />
      {delivery.nextAttemptAt !== null && (
        <Text size="sm">
          {t('delivery.nextAttempt')} <When at={delivery.nextAttemptAt} />
        </Text>
      )}
    </>
  );
}

function Replay({ path }: { path: DeliveryPath }) {
  const { t } = useTranslation('webhooks');
  const replay = async () => {
    await api.POST('/api/webhooks/{endpointId}/deliveries/{deliveryId}/replays', { params: { path } });
    await refresh(
      '/api/webhooks/{endpointId}/deliveries',
      '/api/webhooks/{endpointId}/deliveries/{deliveryId}',
    );
  };
  return (
    <ActionButton w="fit-content" act={replay}>
      {t('delivery.replay')}
    </ActionButton>
  );
}

function Attempts({ delivery }: { delivery: Shape<'WebhookDeliveryDetail'> }) {
  const { t } = useTranslation('webhooks');
  const columns = useAttemptColumns();
  if (delivery.log.length === 0) return <Text size="sm">{t('delivery.noAttempt')}</Text>;
  return (
    <PlainTable
      className="data-list"
      label={t('delivery.attempts')}
      columns={columns}
      rows={delivery.log}
      rowKey="startedAt"
    />
  );
}

function useAttemptColumns(): ListColumn<Shape<'WebhookDeliveryDetail'>['log'][number]>[] {
  const { t } = useTranslation('webhooks');
  const locale = useLocale();
  const duration = (ms: number) => `${ms.toLocaleString(locale)} ms`;
  return [
    timeColumn('startedAt', t('deliveries.at')),
    rightColumn('duration', t('delivery.duration'), ({ durationMs }) => duration(durationMs)),
    column('answer', t('deliveries.answer'), ({ status, error, answer }) =>
      longText(`${status ?? error ?? ''} ${answer ?? ''}`),
    ),
  ];
}
