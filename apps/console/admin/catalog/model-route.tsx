import { Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '../../api/client.js';
import type { Shape } from '../../api/shape.js';
import { column, rightColumn } from '../../ui/lists/columns.js';
import { type ListColumn, DataList, knownRows } from '../../ui/lists/data-list.js';
import { Loaded, Section } from '../../ui/states.js';
import { Hint } from '../../ui/texts.js';
import { Circuit, LOOK_AGAIN_MS, milliseconds } from './channel-health.js';
import { ChannelLink } from './channel-link.js';

type Route = Shape<'ModelRoute'>;

/** The channels that a call of a model tries now, in order, with what decides. */
export function ModelRoute({ model }: { model: string }) {
  const { t } = useTranslation('catalog');
  const init = { params: { path: { model } } };
  const route = $api.useQuery('get', '/api/admin/models/{model}/route', init, {
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

function Channels({ route: { channels, routing } }: { route: Route }) {
  const { t } = useTranslation('catalog');
  const figures = {
    priority: null,
    cost: rightColumn<Route['channels'][number]>('cost', t('route.cost'), ({ cost }) => cost ?? '–'),
    latency: rightColumn<Route['channels'][number]>('latency', t('route.latency'), ({ latencyMs }) =>
      milliseconds(latencyMs),
    ),
  };
  const figure = figures[routing];
  const columns: ListColumn<Route['channels'][number]>[] = [
    column('channel', t('channels.id'), ({ channelId, state }) => (
      <Group gap="xs">
        <ChannelLink id={channelId} />
        {state !== 'closed' && <Circuit state={state} />}
      </Group>
    )),
    rightColumn('order', t('channels.order'), ({ priority, weight }) => `${priority} / ${weight}`),
    ...(figure ? [figure] : []),
  ];
  return (
    <DataList
      label={t('route.title')}
      query={knownRows(channels)}
      columns={columns}
      rowKey={({ channelId }) => channelId}
      empty={{ title: t('route.empty'), hint: t('route.emptyHint') }}
    />
  );
}
