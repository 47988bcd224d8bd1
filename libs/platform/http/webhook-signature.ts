import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const PREFIX = 'whsec_';
/** Signatures of one webhook: a secret and the one before it; more are not looked at. */
const MAX_SIGNATURES = 10;
const LEEWAY_SECONDS = 300;

/** A new secret of 256 random bits, in the form of the Standard Webhooks scheme. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(32).toString('base64');
}

/** Whether a text is a secret of the scheme. */
export function isWebhookSecret(text: string): boolean {
  return /^whsec_[A-Za-z0-9+/]{22,100}={0,2}$/.test(text);
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
  const head = `${id}.${timestamp}.`;
  const signatures = secrets.map((secret) => `v1,${signature(secret, head, body).toString('base64')}`);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}

/** A webhook as it came. */
export interface ReceivedWebhook {
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** When it came. */
  nowMs: number;
}

/** Whether a webhook was signed with this secret, and a moment ago. */
export function isSignedWith(secret: string, { headers, body, nowMs }: ReceivedWebhook): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (typeof id !== 'string' || typeof signatures !== 'string' || !isOfNow(timestamp, nowMs)) return false;
  const expected = signature(secret, `${id}.${timestamp}.`, body);
  return signatures.split(' ', MAX_SIGNATURES).some((each) => {
    const sent = Buffer.from(each.startsWith('v1,') ? each.slice(3) : '', 'base64');
    return sent.length === expected.length && timingSafeEqual(sent, expected);
  });
}

/** Whether a header names a moment that is near, in Unix seconds: what was signed long ago may be a replay. */
export function isOfNow(timestamp: string | string[] | undefined, nowMs: number): timestamp is string {
  if (typeof timestamp !== 'string' || !/^\d{1,12}$/.test(timestamp)) return false;
  return Math.abs(nowMs / 1000 - Number(timestamp)) <= LEEWAY_SECONDS;
}

function signature(secret: string, head: string, body: string | Buffer): Buffer {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return createHmac('sha256', key).update(head).update(body).digest();
}
