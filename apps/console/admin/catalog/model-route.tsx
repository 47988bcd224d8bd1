import { Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Shape, useRead } from '../../api/client.js';
import { column, rightColumn } from '../../ui/lists/columns.js';
import { DataList, knownRows, type ListColumn } from '../../ui/lists/data-list.js';
import { Section } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { Hint } from '../../ui/texts.js';
import { Circuit, LOOK_AGAIN_MS, milliseconds } from './channel-health.js';
import { ChannelLink } from './channel-link.js';

type Route = Shape<'ModelRoute'>;
type Channel = Route['channels'][number];

/** The channels that a call tries, in their current order. */
export function ModelRoute({ model }: { model: string }) {
  const { t } = useTranslation('catalog');
  const init = { path: { model } };
  const route = useRead('/api/admin/models/{model}/route', init, {
    refetchInterval: LOOK_AGAIN_MS,
  });
  return (
    <Section title={t('route.title')}>
      <Loaded query={route} lines={3}>
        {(found) => (
          <>
            <Hint>{t(`route.by.${found.routing}`)}</Hint>
            <Channels route={found} />
          </>
        )}
      </Loaded>
    </Section>
  );
}

function useColumns(routing: Route['routing']): ListColumn<Channel>[] {
  const { t } = useTranslation('catalog');
  const figures = {
    priority: [],
    cost: [rightColumn('cost', t('route.cost'), ({ cost }: Channel) => cost ?? '–')],
    latency: [
      rightColumn('latency', t('route.latency'), ({ latencyMs }: Channel) => milliseconds(latencyMs)),
    ],
  };
  return [
    column('channel', t('channels.id'), ({ channelId, state }) => (
      <Group gap="xs">
        <ChannelLink id={channelId} />
        {state !== 'closed' && <Circuit state={state} />}
      </Group>
    )),
    rightColumn('order', t('channels.order'), ({ priority, weight }) => `${priority} / ${weight}`),
    ...figures[routing],
  ];
}

function Channels({ route: { channels, routing } }: { route: Route }) {
  const { t } = useTranslation('catalog');
  return (
    <DataList
      query={knownRows(channels)}
      columns={useColumns(routing)}
      rowKey="channelId"
      empty={t('route.empty')}
    />
  );
}
