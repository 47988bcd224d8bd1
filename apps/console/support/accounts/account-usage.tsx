import { Group, Stack, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../api/client.js';
import { keepShown } from '../../api/queries.js';
import type { Shape } from '../../api/shape.js';
import { column, extra, menuColumn, rightColumn, timeColumn } from '../../ui/lists/columns.js';
import { useCopies } from '../../ui/lists/row-actions.js';
import { type ListColumn, DataList } from '../../ui/lists/data-list.js';
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

function usePager() {
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const go = (next: string | undefined) =>
    void navigate({ search: (before) => ({ ...before, cursor: next }) });
  return { cursor, go };
}

/** The requests of an account, with what support sees more than its owner: the channel and the upstream's answer. */
export function AccountUsage({ accountId }: { accountId: string }) {
  const { t } = useTranslation('support');
  const pager = usePager();
  const { keyId, model } = route.useSearch();
  const params = { path: { accountId }, query: { keyId, model, limit: PAGE, cursor: pager.cursor } };
  const usage = $api.useQuery('get', '/api/support/accounts/{accountId}/usage', { params }, keepShown);
  return (
    <>
      <Filters />
      <DataList
        label={t('usage.label')}
        query={usage}
        columns={useUsageColumns()}
        rowKey={({ chargeId }) => chargeId}
        empty={{ title: t('usage.empty'), hint: t('usage.emptyHint') }}
        pager={pager}
        columnsName="support-usage"
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
  const copies = useCopies();
  const amount = (value: string | null) => (value === null ? '–' : <Money value={value} />);
  return [
    timeColumn('at', t('usage.at')),
    column('model', t('usage.model'), (request) => <Model request={request} />),
    column('state', t('usage.state'), ({ state, refusalCode, reason }) => (
      <Stack gap="hair" align="flex-start">
        <StaffChargeBadge state={state} />
        {(refusalCode ?? reason) && <Text size="xs">{refusalCode ?? reason}</Text>}
      </Stack>
    )),
    rightColumn('held', t('usage.held'), ({ held }) => amount(held)),
    rightColumn('settled', t('usage.settled'), ({ settled }) => amount(settled)),
    column('channel', t('usage.channel'), ({ channel, upstreamStatus }) =>
      channel ? `${channel} ${upstreamStatus ?? ''}` : '–',
    ),
    column('charge', t('usage.charge'), ({ chargeId }) => (
      <OpenLink param="charge" value={chargeId} size="xs" ff="monospace" className="model-name">
        {chargeId}
      </OpenLink>
    )),
    extra(
      column('request', t('usage.request'), ({ requestId }) => (
        <Text size="xs" ff="monospace" className="model-name">
          {requestId ?? '–'}
        </Text>
      )),
    ),
    extra(
      rightColumn('latency', t('usage.latency'), ({ latencyMs }) =>
        latencyMs === null ? '–' : `${latencyMs}\u00a0ms`,
      ),
    ),
    menuColumn(({ chargeId, requestId, keyId, model }) => [
      ...copies({ request: requestId, charge: chargeId }),
      ...(keyId === null ? [] : [{ only: { keyId }, what: t('usage.thisKey') }]),
      ...(model === null ? [] : [{ only: { model }, what: model }]),
    ]),
  ];
}

function Model({ request: { model, requestedModel, group } }: { request: Shape<'UsageEntry'> }) {
  return <TwoLines first={requestedModel ?? model ?? '–'} second={group} />;
}
