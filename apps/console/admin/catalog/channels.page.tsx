import { IconPlus } from '@tabler/icons-react';
import { useSearch, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Shape, useRead } from '../../api/client.js';
import { column, rightColumn, textColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn, rowsOf } from '../../ui/lists/data-list.js';
import { ButtonLink } from '../../ui/links.js';
import { PageFrame } from '../../ui/page.js';
import { useChannels } from '../catalog.js';
import { ChannelForm } from './channel-form.js';
import { ChannelState, Latency, LOOK_AGAIN_MS } from './channel-health.js';
import { FormPanel } from '../../ui/forms/dialog.js';
import { ChannelLink } from './channel-link.js';

export default function ChannelsPage() {
  const { t } = useTranslation('catalog');
  const health = useRead('/api/admin/channel-health', {}, { refetchInterval: LOOK_AGAIN_MS });
  const create = (
    <ButtonLink to="/admin/channels" search={{ new: 'yes' }} icon={IconPlus}>
      {t('channels.new')}
    </ButtonLink>
  );
  return (
    <PageFrame title={t('channels.title')} about={t('channels.about')} actions={create}>
      <DataList
        query={rowsOf(useChannels())}
        columns={useColumns(health.data?.items ?? [])}
        empty={{ title: t('channels.empty'), hint: t('channels.emptyHint'), action: create }}
      />
      <NewChannel />
    </PageFrame>
  );
}

function useColumns(health: readonly Shape<'ChannelHealth'>[]): ListColumn<Shape<'Channel'>>[] {
  const { t } = useTranslation('catalog');
  const of = (channel: Shape<'Channel'>) => health.find(({ channelId }) => channelId === channel.id);
  return [
    column('id', t('channels.id'), ({ id }) => <ChannelLink id={id} />),
    textColumn('protocol', t('channels.protocol')),
    column('state', t('channels.state'), (channel) => (
      <ChannelState enabled={channel.enabled} health={of(channel)} />
    )),
    rightColumn('tasks', t('channels.runningTasks'), (channel) => of(channel)?.runningTasks ?? '–'),
    rightColumn('latency', t('channels.latency'), (channel) => <Latency health={of(channel)} />),
    rightColumn('order', t('channels.order'), ({ priority, weight }) => `${priority} / ${weight}`),
    rightColumn('models', t('channels.models'), ({ models }) => Object.keys(models).length),
    rightColumn('keys', t('channels.keys'), ({ keyMarks }) => keyMarks.length),
  ];
}

function NewChannel() {
  const { t } = useTranslation('catalog');
  const { new: wanted } = useSearch({ from: '/admin/channels' });
  const navigate = useNavigate();
  return (
    <FormPanel
      opened={wanted === 'yes'}
      close={() => void navigate({ to: '/admin/channels' })}
      title={t('channels.new')}
    >
      {wanted === 'yes' && (
        <ChannelForm
          channel={null}
          done={(id) => void navigate({ to: '/admin/channels/$channelId', params: { channelId: id } })}
        />
      )}
    </FormPanel>
  );
}
