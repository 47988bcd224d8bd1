import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';

/** A new secret of 256 random bits, in the form of the Standard Webhooks scheme. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(32).toString('base64');
}

export interface SignedMessage {
  id: string;
  /** Unix seconds of this attempt. */
  timestamp: number;
  body: string;
}

/**
 * The three headers of the Standard Webhooks scheme: receivers verify HMAC-SHA256 over `id.timestamp.body` under any of
 * the secrets, and refuse old timestamps.
 */
export function signedHeaders(message: SignedMessage, secrets: readonly string[]): Record<string, string> {
  const { id, timestamp, body } = message;
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}
