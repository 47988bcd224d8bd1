import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, type UseQueryResult } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api, refresh, type Shape, useRead } from '../../api/client.js';
import type { paths } from '../../api/schema.js';
import { column, rightColumn } from '../../ui/lists/columns.js';
import { DataList, knownRows, type ListColumn } from '../../ui/lists/data-list.js';
import { Anew } from '../../ui/forms/anew.js';
import { ConfirmAction } from '../../ui/forms/confirm-action.js';
import { PartTabs } from '../../ui/lists/part-tabs.js';
import { FormFault } from '../../ui/forms/form.js';
import { BackLink } from '../../ui/links.js';
import { PageFrame, Section } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { Hint, Labelled, TwoLines } from '../../ui/texts.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { ChannelForm } from './channel-form.js';
import { ChannelPrograms, ChannelState, KeyMark, LOOK_AGAIN_MS, milliseconds } from './channel-health.js';

export default function ChannelPage() {
  const { t } = useTranslation('catalog');
  const { channelId } = useParams({ from: '/admin/channels/$channelId' });
  const init = { path: { channelId } };
  const channel = useRead('/api/admin/channels/{channelId}', init);
  const health = useRead('/api/admin/channels/{channelId}/health', init, {
    refetchInterval: LOOK_AGAIN_MS,
  });
  return (
    <PageFrame
      title={t('channel.title', { channel: channelId })}
      about={channel.data && `${channel.data.protocol} · ${channel.data.baseUrl}`}
      actions={channel.data && <Turn channel={channel.data} />}
    >
      <BackLink to="/admin/channels">{t('channel.back')}</BackLink>
      <Loaded query={channel} lines={12}>
        {(found) => <Parts channel={found} health={health} />}
      </Loaded>
    </PageFrame>
  );
}

interface PartsProps {
  channel: Shape<'Channel'>;
  health: Pick<UseQueryResult<Shape<'ChannelHealth'>, unknown>, 'data' | 'error' | 'refetch'>;
}

/** It begins anew with what is in force once it is saved, not whenever the channel is read again. */
function Settings({ channel }: Pick<PartsProps, 'channel'>) {
  return (
    <div className="form-width">
      <Anew>{(begin) => <ChannelForm channel={channel} done={begin} />}</Anew>
    </div>
  );
}

/** The form has a tab of its own because it is long. */
function Parts({ channel, health }: PartsProps) {
  const { t } = useTranslation('catalog');
  return (
    <>
      <State channel={channel} health={health} />
      <PartTabs
        label={t('channel.title', { channel: channel.id })}
        names={{ health: t('channel.health'), settings: t('channel.settings') }}
        parts={{
          health: <Vitals channel={channel} health={health} />,
          settings: <Settings key={channel.id} channel={channel} />,
        }}
      />
    </>
  );
}

function Vitals({ channel, health }: PartsProps) {
  const { t } = useTranslation('catalog');
  return (
    <Stack gap="lg">
      <Section title={t('health.title')}>
        <Loaded query={health} lines={3}>
          {(found) => <ChannelPrograms health={found} />}
        </Loaded>
      </Section>
      <Test channel={channel} />
    </Stack>
  );
}

function State({ channel: { enabled, models, keyMarks }, health: { data: health } }: PartsProps) {
  const { t } = useTranslation('catalog');
  return (
    <Group gap="sm">
      <ChannelState enabled={enabled} health={health} />
      <Hint>
        <Labelled label={t('channels.models')}>{Object.keys(models).length}</Labelled>
        {' · '}
        <Labelled label={t('channels.keys')}>{keyMarks.length}</Labelled>
      </Hint>
      {health && health.runningTasks > 0 && (
        <Text size="sm">{t('channel.running', { count: health.runningTasks })}</Text>
      )}
    </Group>
  );
}

/** A drained channel takes no new calls but finishes those that it has. */
function Turn({ channel: { enabled, id } }: { channel: Shape<'Channel'> }) {
  const { t } = useTranslation('catalog');
  const params = { path: { channelId: id } };
  const way = enabled ? 'drain' : 'on';
  return (
    <ConfirmAction
      texts={t(`channel.turn.${way}`)}
      isDangerous={enabled}
      act={() => api.PATCH('/api/admin/channels/{channelId}', { params, body: { enabled: !enabled } })}
      reread={reread}
    />
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

function useTrialColumns(): ListColumn<Tested['trials'][number]>[] {
  const { t } = useTranslation('catalog');
  return [
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
    column('detail', t('test.detail'), ({ finding, detail }) => (
      <TwoLines
        first={t(`test.findings.${finding}`)}
        // Networks and vendors answer in English.
        second={finding === 'no_answer' && <span lang="en">{detail}</span>}
      />
    )),
  ];
}

function Trials({ trials }: Pick<Tested, 'trials'>) {
  const { t } = useTranslation('catalog');
  return (
    <DataList
      query={knownRows(trials)}
      columns={useTrialColumns()}
      rowKey={({ key }) => String(key)}
      empty={{ title: t('test.title'), hint: t('test.hint') }}
    />
  );
}
