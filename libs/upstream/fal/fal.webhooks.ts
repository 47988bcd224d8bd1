import { createHash, verify } from 'node:crypto';
import type { Channel } from '#catalog/catalog.js';
import type { Clock } from '#platform/clock.js';
import { isOfNow } from '#platform/http/webhook-signature.js';
import { asText, readObject } from '../answers.js';
import type { UpstreamConnections } from '../connections.js';
import { PublishedKeys } from '../webhooks/published-keys.js';
import type { ChannelWebhook, VendorNotice, VendorWebhooks } from '../webhooks/vendor-webhooks.js';
import { isRequestPath } from './fal.answers.js';

const KEYS = 'https://rest.fal.ai/.well-known/jwks.json';
/** The query parameter with the app of a request, because a webhook contains only the request's id. */
const APP = 'app';

/** Webhooks of the queue. They are signed with fal's keys, which are the same for all its customers. */
export class FalWebhooks implements VendorWebhooks {
  readonly needsSecret = false;
  private readonly keys: PublishedKeys;

  constructor(connections: UpstreamConnections, clock?: Clock) {
    this.keys = new PublishedKeys(connections, clock);
  }

  /** The query that makes fal announce the end of a request to this app. */
  queryFor(webhookUrl: string | undefined, app: string): string {
    if (webhookUrl === undefined) return '';
    return `?fal_webhook=${encodeURIComponent(`${webhookUrl}?${APP}=${encodeURIComponent(app)}`)}`;
  }

  async read(channel: Channel, webhook: ChannelWebhook): Promise<VendorNotice | null> {
    if (!(await this.isGenuine(channel, webhook))) return null;
    // Any customer of fal can have a webhook about their own request sent here, so only the ids of ours count.
    const id = asText(readObject(webhook.body)?.['request_id']) ?? '';
    const path = `${asText(webhook.query[APP]) ?? ''}/requests/${id}`;
    return { upstreamIds: isRequestPath(path) ? [path] : [] };
  }

  private async isGenuine(channel: Channel, { headers, body, nowMs }: ChannelWebhook): Promise<boolean> {
    const timestamp = headers['x-fal-webhook-timestamp'];
    const signature = Buffer.from(String(headers['x-fal-webhook-signature']), 'hex');
    if (!isOfNow(timestamp, nowMs) || signature.length === 0) return false;
    const digest = createHash('sha256').update(body).digest('hex');
    const [requestId, userId] = [headers['x-fal-webhook-request-id'], headers['x-fal-webhook-user-id']];
    const signed = Buffer.from([requestId, userId, timestamp, digest].join('\n'));
    return this.keys.some(keysOf(channel), (key) => verify(null, signed, key, signature));
  }
}

/** Your own upstream publishes its own keys. */
function keysOf({ allowPrivateAddress, baseUrl }: Channel): string {
  return allowPrivateAddress ? `${baseUrl}/.well-known/jwks.json` : KEYS;
}
