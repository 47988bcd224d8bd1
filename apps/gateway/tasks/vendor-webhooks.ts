import type { CatalogCache } from '#catalog/catalog.cache.js';
import type { Channel } from '#catalog/catalog.js';
import type { Clock } from '#platform/clock.js';
import { ApiError } from '#platform/errors.js';
import type { Logger } from '#platform/logging.js';
import type { TaskStore } from '#tasks/task.store.js';
import type { Upstreams } from '#upstream/adapters.js';
import type { ChannelWebhook } from '#upstream/webhooks/vendor-webhooks.js';
import type { GatewayConfig } from '../gateway.config.js';
import type { FailedKeys } from '../protection/failed-keys.js';
import type { RequestLimiter } from '../protection/request-limiter.js';

export const WEBHOOKS_PATH = 'vendor-webhooks';
/** The most tasks of a channel that webhooks can have polled early per minute. Others wait for their next poll. */
const MOST_PER_MINUTE = 6_000;

/**
 * The URL where a channel's vendor can announce the end of a task. Undefined if the vendor cannot reach it or its webhooks cannot
 * be verified.
 */
export function webhookUrlOf(
  channel: Channel,
  { upstreams, config: { publicBaseUrl } }: { upstreams: Upstreams; config: GatewayConfig },
): string | undefined {
  if (publicBaseUrl === undefined || !upstreams.adapterFor(channel.protocol).takesWebhooks(channel))
    return undefined;
  // A vendor can only reach us from the internet, unless it is our own upstream.
  if (!publicBaseUrl.startsWith('https://') && !channel.allowPrivateAddress) return undefined;
  return `${publicBaseUrl}/${WEBHOOKS_PATH}/${encodeURIComponent(channel.id)}`;
}

interface VendorWebhookParts {
  catalog: CatalogCache;
  upstreams: Upstreams;
  tasks: TaskStore;
  limiter: RequestLimiter;
  failedKeys: FailedKeys;
  clock: Clock;
  log: Logger;
}

/** Takes the webhooks of vendors: each is checked, and then is a hint to poll its task now, whatever else it says. */
export class VendorWebhookInbox {
  constructor(private readonly parts: VendorWebhookParts) {}

  /**
   * The answer is the same whether a task waits for it or not.
   * @throws ApiError invalid_request for a webhook that its vendor did not sign; rate_limit_exceeded
   */
  async receive(channelId: string, sent: Omit<ChannelWebhook, 'nowMs'> & { ip: string }): Promise<void> {
    const { catalog, upstreams, tasks, limiter, failedKeys, clock, log } = this.parts;
    const channel = (await catalog.get()).channels.find(({ id }) => id === channelId);
    const webhook = { ...sent, nowMs: clock.nowMs() };
    const notice = channel && (await upstreams.readWebhook(channel, webhook));
    if (!notice) {
      failedKeys.note(sent.ip);
      if (channel) log.warn({ channel: channelId }, 'a webhook was refused: its signature is not valid');
      throw new ApiError('invalid_request', 'The signature of the webhook is not valid, or too old.');
    }
    const { upstreamIds } = notice;
    if (upstreamIds.length === 0) return;
    const limit = { subject: `webhooks of channel ${channelId}`, most: MOST_PER_MINUTE };
    if (!(await limiter.take([limit])).passes)
      throw new ApiError('rate_limit_exceeded', 'Too many webhooks came to this channel. Try again later.');
    const isWaiting = await tasks.pollNow(channelId, upstreamIds);
    log.debug({ channel: channelId, upstreamIds, isWaiting }, 'a webhook was accepted');
  }
}
