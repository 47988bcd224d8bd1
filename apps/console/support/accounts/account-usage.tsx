import { Group, Stack, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Shape, useList } from '../../api/client.js';
import { codeColumn, column, extra, menuColumn, rightColumn, timeColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { copies } from '../../ui/lists/row-actions.js';
import { Narrowed } from '../../ui/lists/narrowed.js';
import { OpenLink } from '../../ui/links.js';
import { Money } from '../../ui/money.js';
import { Named } from '../../ui/named.js';
import { TwoLines } from '../../ui/texts.js';
import { ChargeFacts } from '../charges/charge-facts.js';
import { StaffChargeBadge } from '../charges/charge-state.js';
import { OpenPanel } from '../../ui/forms/dialog.js';

const route = getRouteApi('/support/accounts/$accountId');
const PAGE = 25;

/** The requests of an account, with the channel and the upstream's response, which its owner does not see. */
export function AccountUsage({ accountId }: { accountId: string }) {
  const { t } = useTranslation('support');
  const { keyId, model } = route.useSearch();
  const asked = { path: { accountId }, query: { keyId, model, limit: PAGE } };
  const usage = useList('/api/support/accounts/{accountId}/usage', asked);
  return (
    <>
      <Filters />
      <DataList
        texts={t('usage.list')}
        query={usage}
        columns={useUsageColumns()}
        rowKey="chargeId"
        name="support-usage"
      />
      <OpenPanel param="charge" title={t('charge.title')}>
        {(id) => <ChargeFacts chargeId={id} />}
      </OpenPanel>
    </>
  );
}

function Filters() {
  const { t } = useTranslation('support');
  const { keyId, model } = route.useSearch();
  if (keyId === undefined && model === undefined) return null;
  return (
    <Group gap="sm">
      {keyId !== undefined && (
        <Narrowed label={t('usage.allKeys')} clear={{ keyId: undefined }}>
          <Named kind="key" id={keyId} />
        </Narrowed>
      )}
      {model !== undefined && (
        <Narrowed label={t('usage.allModels')} clear={{ model: undefined }}>
          {model}
        </Narrowed>
      )}
    </Group>
  );
}

function useUsageColumns(): ListColumn<Shape<'UsageEntry'>>[] {
  const { t } = useTranslation('support');
  const amount = (value: string | null) => (value === null ? '–' : <Money value={value} />);
  return [
    timeColumn('at', t('usage.at')),
    column('model', t('usage.model'), (request) => <Model request={request} />),
    column('state', t('usage.state'), (request) => <State request={request} />),
    rightColumn('held', t('usage.held'), ({ held }) => amount(held)),
    rightColumn('settled', t('usage.settled'), ({ settled }) => amount(settled)),
    column('channel', t('usage.channel'), channelText),
    column('charge', t('usage.charge'), ({ chargeId }) => (
      <OpenLink param="charge" value={chargeId} size="xs" ff="monospace" className="model-name">
        {chargeId}
      </OpenLink>
    )),
    extra(codeColumn('requestId', t('usage.request'))),
    extra(rightColumn('latency', t('usage.latency'), latencyText)),
    menuColumn(({ chargeId, requestId, keyId, model }) => [
      ...copies({ request: requestId, charge: chargeId }),
      ...(keyId === null ? [] : [{ only: { keyId }, what: t('usage.thisKey') }]),
      ...(model === null ? [] : [{ only: { model }, what: model }]),
    ]),
  ];
}

function channelText({ channel, upstreamStatus }: Shape<'UsageEntry'>): string {
  return channel ? `${channel} ${upstreamStatus ?? ''}` : '–';
}

function latencyText({ latencyMs }: Shape<'UsageEntry'>): string {
  return latencyMs === null ? '–' : `${latencyMs}\u00a0ms`;
}

function State({ request: { state, refusalCode, reason } }: { request: Shape<'UsageEntry'> }) {
  const why = refusalCode ?? reason;
  return (
    <Stack gap="hair" align="flex-start">
      <StaffChargeBadge state={state} />
      {why && <Text size="xs">{why}</Text>}
    </Stack>
  );
}

function Model({ request: { model, requestedModel, group } }: { request: Shape<'UsageEntry'> }) {
  return <TwoLines first={requestedModel ?? model ?? '–'} second={group} />;
}
