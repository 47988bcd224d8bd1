import type { Channel } from '#catalog/catalog.js';
import { isSignedWith, type ReceivedWebhook } from '#platform/http/webhook-signature.js';
import { asText, type JsonObject, readObject } from '../answers.js';

export interface ChannelWebhook extends ReceivedWebhook {
  /** The query of its address, which nobody has signed. */
  query: Readonly<Record<string, unknown>>;
}

/** A verified webhook of the vendor. */
export interface VendorNotice {
  /** What the create of its task may have returned as the id; none if it is about no task. */
  upstreamIds: readonly string[];
}

/**
 * The webhooks of a vendor. A webhook is only a hint that a task has ended: the task is polled now rather than later.
 * Whatever is sent, twice, late or never, decides no outcome and no charge.
 */
export interface VendorWebhooks {
  /** Verified with a secret of the channel. Otherwise, with keys that the vendor publishes. */
  readonly needsSecret: boolean;
  /** The content of a webhook; null if the vendor did not sign it, or it is old. */
  read(channel: Channel, webhook: ChannelWebhook): Promise<VendorNotice | null>;
}

/** An id is part of a query. Real ones are shorter. */
const ID = /^[\w.:/-]{1,300}$/;

/** Webhooks signed as in Standard Webhooks, with the secret of the channel. */
export class StandardWebhooks implements VendorWebhooks {
  readonly needsSecret = true;

  /** @param idsIn finds what may be the id of the task in a body to a channel */
  constructor(private readonly idsIn: (body: JsonObject, channel: Channel) => readonly unknown[]) {}

  async read(channel: Channel, webhook: ChannelWebhook): Promise<VendorNotice | null> {
    const { webhookSecret } = channel;
    if (webhookSecret === null || !isSignedWith(webhookSecret, webhook)) return null;
    const ids = this.idsIn(readObject(webhook.body) ?? {}, channel).flatMap((id) => asText(id) ?? []);
    return { upstreamIds: ids.filter((id) => ID.test(id)) };
  }
}
