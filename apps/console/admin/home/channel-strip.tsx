import { useTranslation } from 'react-i18next';
import { type Shape, useRead } from '../../api/client.js';
import { Strip } from '../../ui/lists/strip.js';
import { Loaded, Section } from '../../ui/page.js';
import { SmallPrint } from '../../ui/texts.js';
import { useChannels } from '../catalog.js';
import { ChannelState, Latency, LOOK_AGAIN_MS } from '../catalog/channel-health.js';
import { ChannelLink } from '../catalog/channel-link.js';

export function ChannelStrip() {
  const { t } = useTranslation('catalog');
  const channels = useChannels();
  const health = useRead('/api/admin/channel-health', {}, { refetchInterval: LOOK_AGAIN_MS });
  return (
    <Section title={t('channels.title')}>
      <Loaded query={channels} lines={3}>
        {(found) =>
          found.length === 0 ? (
            <SmallPrint>{t('channels.empty')}</SmallPrint>
          ) : (
            <Strip>
              {found.map((channel) => (
                <Line key={channel.id} channel={channel} health={health.data?.items ?? []} />
              ))}
            </Strip>
          )
        }
      </Loaded>
    </Section>
  );
}

interface LineProps {
  channel: Shape<'Channel'>;
  health: readonly Shape<'ChannelHealth'>[];
}

function Line({ channel: { id, enabled }, health }: LineProps) {
  const vitals = health.find(({ channelId }) => channelId === id);
  return (
    <li className="strip-line">
      <ChannelLink id={id} />
      <SmallPrint>
        p99 <Latency health={vitals} />
      </SmallPrint>
      <ChannelState enabled={enabled} health={vitals} />
    </li>
  );
}
