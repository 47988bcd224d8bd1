import { createHash, generateKeyPairSync, sign } from 'node:crypto';

/** The key that signs webhooks, and the endpoints of the only project at OpenAI and at Google. */
export class WebhookKeys {
  private readonly pair = generateKeyPairSync('ed25519');
  /** The URL for the webhooks of each vendor. Without one, none are sent. */
  readonly endpoints = new Map<unknown, string>();

  get keySet() {
    return { keys: [{ ...this.pair.publicKey.export({ format: 'jwk' }), kid: 'sandbox', alg: 'EdDSA' }] };
  }

  /** As fal signs. */
  headersOf(requestId: string, timestamp: number, body: string): Record<string, string> {
    const user = 'sandbox-user';
    const digest = createHash('sha256').update(body).digest('hex');
    const signed = Buffer.from([requestId, user, timestamp, digest].join('\n'));
    return {
      'x-fal-webhook-request-id': requestId,
      'x-fal-webhook-user-id': user,
      'x-fal-webhook-timestamp': String(timestamp),
      'x-fal-webhook-signature': sign(null, signed, this.pair.privateKey).toString('hex'),
    };
  }
}
