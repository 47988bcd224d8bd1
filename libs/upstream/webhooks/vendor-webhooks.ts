import type { Channel } from '#catalog/catalog.js';
import { isSignedWith, type ReceivedWebhook } from '#platform/http/webhook-signature.js';
import { asText, type JsonObject, readObject } from '../answers.js';

/** A webhook to the address of a channel. */
export interface ChannelWebhook extends ReceivedWebhook {
  /** The query of its address, which nobody has signed. */
  query: Readonly<Record<string, unknown>>;
}

/** A verified webhook of the vendor. */
export interface VendorNotice {
  /** The id of its task, as returned by the create; null if it is about none. */
  upstreamId: string | null;
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
const ID = /^[\w-]{1,100}$/;

/** Webhooks signed as in Standard Webhooks, with the secret of the channel. */
export class StandardWebhooks implements VendorWebhooks {
  readonly needsSecret = true;

  /** @param idIn finds the id of the task in a body */
  constructor(private readonly idIn: (body: JsonObject) => unknown) {}

  async read({ webhookSecret }: Channel, webhook: ChannelWebhook): Promise<VendorNotice | null> {
    if (webhookSecret === null || !isSignedWith(webhookSecret, webhook)) return null;
    const id = asText(this.idIn(readObject(webhook.body) ?? {}));
    return { upstreamId: id !== undefined && ID.test(id) ? id : null };
  }
}
