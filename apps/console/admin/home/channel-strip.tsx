import { useTranslation } from 'react-i18next';
import { $api } from '../../api/client.js';
import { Strip } from '../../ui/lists/strip.js';
import { Loaded, Section } from '../../ui/states.js';
import { SmallPrint } from '../../ui/texts.js';
import { useChannels } from '../catalog.js';
import { ChannelState, Latency, LOOK_AGAIN_MS } from '../catalog/channel-health.js';
import { ChannelLink } from '../catalog/channel-link.js';

/** Every channel as a line of one dense strip: whether it takes calls, and how long its slowest take. */
export function ChannelStrip() {
  const { t } = useTranslation('catalog');
  const channels = useChannels();
  const health = $api.useQuery('get', '/api/admin/channel-health', {}, { refetchInterval: LOOK_AGAIN_MS });
  return (
    <Section title={t('channels.title')}>
      <Loaded query={channels} lines={3}>
        {(found) =>
          found.length === 0 ? (
            <SmallPrint>{t('channels.empty')}</SmallPrint>
          ) : (
            <Strip>
              {found.map(({ id, enabled }) => {
                const vitals = health.data?.items.find(({ channelId }) => channelId === id);
                return (
                  <li key={id} className="strip-line">
                    <ChannelLink id={id} />
                    <SmallPrint>
                      p99 <Latency health={vitals} />
                    </SmallPrint>
                    <ChannelState enabled={enabled} health={vitals} />
                  </li>
                );
              })}
            </Strip>
          )
        }
      </Loaded>
    </Section>
  );
}
