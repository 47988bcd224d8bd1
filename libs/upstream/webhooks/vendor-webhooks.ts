import type { Channel } from '#catalog/catalog.js';
import { isSignedWith, type ReceivedWebhook } from '#platform/http/webhook-signature.js';
import { asText, type JsonObject, readObject } from '../answers.js';

/** A webhook to the address of a channel. */
export interface ChannelWebhook extends ReceivedWebhook {
  /** Of the address that it was sent to; nobody has signed it. */
  query: Readonly<Record<string, unknown>>;
}

/** A webhook that is the vendor's. */
export interface VendorNotice {
  /** The task that it speaks of, by the id that its create returned; null where it speaks of none. */
  upstreamId: string | null;
}

/**
 * The webhooks of a vendor. One is a hint that a task has ended, and nothing else is believed of it: the task is polled now
 * rather than later, so whatever is sent, twice, late or never, decides no outcome and no charge.
 */
export interface VendorWebhooks {
  /** They are checked with a secret of the channel; else with keys that the vendor publishes. */
  readonly needsSecret: boolean;
  /** What a webhook says; null for one that the vendor did not sign, or that is old. */
  read(channel: Channel, webhook: ChannelWebhook): Promise<VendorNotice | null>;
}

/** An id goes into a query; real ones are shorter. */
const ID = /^[\w-]{1,100}$/;

/** Webhooks that are signed as Standard Webhooks defines it, with the secret of the channel. */
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
