import type { CatalogCache } from '#catalog/catalog.cache.js';
import { Loop } from '#platform/loop.js';
import type { Upstreams } from '#upstream/adapters.js';
import { ChannelChecks } from '#upstream/health/channel-checks.js';
import { ChannelHealth } from '#upstream/health/channel-health.js';
import type { GatewayModuleOptions } from './gateway.options.js';

/** A vendor that does not name its models within this is unhealthy. */
const PROBE_LIMIT_MS = 5_000;

/** A gateway's view of its channels, and the loop that tests them, or null if they are not tested. */
export function watchedChannels(
  { config, clock, registry, log }: GatewayModuleOptions,
  { upstreams, catalog }: { upstreams: Upstreams; catalog: CatalogCache },
): { health: ChannelHealth; checking: Loop | null } {
  const { channelCheckMs: intervalMs } = config;
  const checks: ChannelChecks = new ChannelChecks({
    clock,
    registry,
    channels: async () => (await catalog.get()).channels,
    probeKeys: (channel) => upstreams.probeKeys(channel, PROBE_LIMIT_MS),
    lastServedMs: (channelId) => health.lastServedMs(channelId),
    onChange: (change) => log.warn(change, 'a scheduled test switched a channel'),
  });
  const health: ChannelHealth = new ChannelHealth({
    clock,
    registry,
    failuresToOpen: config.channelFailuresToOpen,
    openMs: config.channelOpenMs,
    probe: (channel) => upstreams.probe(channel, PROBE_LIMIT_MS),
    isOff: (channelId) => checks.isOff(channelId),
    onChange: (change) =>
      log[change.state === 'open' ? 'warn' : 'info'](change, 'the health of a channel changed'),
  });
  const round = () => checks.round();
  const checking = intervalMs > 0 ? new Loop({ name: 'channel-checks', intervalMs, log, round }) : null;
  return { health, checking };
}
