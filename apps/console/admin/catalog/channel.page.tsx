import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api, api } from '../../api/client.js';
import { refresh } from '../../api/queries.js';
import type { paths } from '../../api/schema.js';
import type { Shape } from '../../api/shape.js';
import { column, rightColumn, textColumn } from '../../ui/lists/columns.js';
import { ConfirmAction } from '../../ui/forms/confirm-action.js';
import { type ListColumn, DataList, knownRows } from '../../ui/lists/data-list.js';
import { FormFault } from '../../ui/forms/form.js';
import { BackLink } from '../../ui/links.js';
import { PageFrame } from '../../ui/page.js';
import { Loaded, Section } from '../../ui/states.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { Hint } from '../../ui/texts.js';
import { ChannelForm } from './channel-form.js';
import { ChannelPrograms, ChannelState, KeyMark, LOOK_AGAIN_MS, milliseconds } from './channel-health.js';

const route = getRouteApi('/admin/channels/$channelId');

/** One upstream: how it is, whether it answers, and its settings. */
export function ChannelPage() {
  const { t } = useTranslation('catalog');
  const { channelId } = route.useParams();
  const init = { params: { path: { channelId } } };
  const channel = $api.useQuery('get', '/api/admin/channels/{channelId}', init);
  const health = $api.useQuery('get', '/api/admin/channels/{channelId}/health', init, {
    refetchInterval: LOOK_AGAIN_MS,
  });
  return (
    <PageFrame title={t('channel.title', { channel: channelId })} width={64}>
      <BackLink to="/admin/channels">{t('channel.back')}</BackLink>
      <Loaded query={channel} lines={12}>
        {(found) => (
          <Stack gap="lg">
            <State channel={found} health={health.data} />
            <Section title={t('health.title')}>
              <Loaded query={health} lines={3}>
                {(vitals) => <ChannelPrograms health={vitals} />}
              </Loaded>
            </Section>
            <Test channel={found} />
            <Section title={t('channel.settings')}>
              <ChannelForm key={JSON.stringify(found)} channel={found} done={() => undefined} />
            </Section>
          </Stack>
        )}
      </Loaded>
    </PageFrame>
  );
}

function State({
  channel,
  health,
}: {
  channel: Shape<'Channel'>;
  health: Shape<'ChannelHealth'> | undefined;
}) {
  const { t } = useTranslation('catalog');
  const { enabled, id, protocol, baseUrl } = channel;
  const turn = async () => {
    const params = { path: { channelId: id } };
    await api.PATCH('/api/admin/channels/{channelId}', { params, body: { enabled: !enabled } });
    await reread();
  };
  const way = enabled ? 'drain' : 'on';
  return (
    <Stack gap="xs">
      <Group gap="sm">
        <ChannelState enabled={enabled} health={health} />
        <Text size="sm" className="model-name">
          {protocol} · {baseUrl}
        </Text>
      </Group>
      <Group gap="sm">
        <ConfirmAction
          label={t(`channel.turn.${way}`)}
          title={t(`channel.turnTitle.${way}`)}
          isDangerous={enabled}
          act={turn}
          hint={t(`channel.turnHint.${way}`)}
        />
        {health && health.runningTasks > 0 && (
          <Text size="sm">{t('channel.running', { count: health.runningTasks })}</Text>
        )}
      </Group>
    </Stack>
  );
}

async function reread(): Promise<void> {
  await refresh(
    '/api/admin/channels',
    '/api/admin/channels/{channelId}',
    '/api/admin/channels/{channelId}/health',
    '/api/admin/channel-health',
    '/api/admin/audit-log',
  );
}

/** Asks the upstream, with each of its keys, for something that costs nothing. */
function Test({ channel: { id } }: { channel: Shape<'Channel'> }) {
  const { t } = useTranslation('catalog');
  const testing = useMutation({
    mutationFn: async () => {
      const params = { path: { channelId: id } };
      return (await api.POST('/api/admin/channels/{channelId}/tests', { params })).data!;
    },
  });
  return (
    <Section
      title={t('test.title')}
      aside={
        <Button variant="default" onClick={() => testing.mutate()} loading={testing.isPending}>
          {t('test.run')}
        </Button>
      }
    >
      <Hint>{t('test.hint')}</Hint>
      <FormFault error={testing.error} />
      {testing.data && <Trials trials={testing.data.trials} />}
    </Section>
  );
}

type Tested =
  paths['/api/admin/channels/{channelId}/tests']['post']['responses'][200]['content']['application/json'];

const VERDICTS = { ok: 'good', unsure: 'waiting', failed: 'bad' } as const;

function Trials({ trials }: Pick<Tested, 'trials'>) {
  const { t } = useTranslation('catalog');
  const columns: ListColumn<Tested['trials'][number]>[] = [
    column('key', t('test.key'), ({ key, keyMark }) => (
      <span>
        {key} <KeyMark mark={keyMark} />
      </span>
    )),
    column('verdict', t('test.verdict'), ({ verdict }) => (
      <StatusBadge tone={VERDICTS[verdict]}>{t(`test.verdicts.${verdict}`)}</StatusBadge>
    )),
    rightColumn('status', t('test.status'), ({ status }) => status ?? '–'),
    rightColumn('latency', t('test.latency'), ({ latencyMs }) => milliseconds(latencyMs)),
    textColumn('detail', t('test.detail')),
  ];
  return (
    <DataList
      label={t('test.title')}
      query={knownRows(trials)}
      columns={columns}
      rowKey={({ key }) => String(key)}
      empty={{ title: t('test.title'), hint: t('test.hint') }}
    />
  );
}
