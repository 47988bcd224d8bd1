import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { isSignedWith, isWebhookSecret, newWebhookSecret, signedHeaders } from './webhook-signature.js';

const SECRET = newWebhookSecret();
const OTHER = newWebhookSecret();
const AT = 1_800_000_000;
const BODY = '{"type":"ping"}';

function isBelieved(headers: Record<string, string>, of: { body?: string; nowMs?: number } = {}) {
  const { body = BODY, nowMs = AT * 1000 } = of;
  return isSignedWith(SECRET, { headers, body: Buffer.from(body), nowMs });
}

describe('a webhook', () => {
  const headers = signedHeaders({ id: 'msg_1', timestamp: AT, body: BODY }, [SECRET]);
  const { 'webhook-signature': signature = '' } = headers;

  it('signed here is accepted by others, and the other way round', () => {
    const timestamp = Math.floor(Date.now() / 1000);
    const now = signedHeaders({ id: 'msg_1', timestamp, body: BODY }, [OTHER, SECRET]);
    expect(new Webhook(SECRET).verify(BODY, now)).toEqual({ type: 'ping' });
    const theirs = new Webhook(SECRET).sign('msg_1', new Date(AT * 1000), BODY);
    expect(isBelieved({ ...headers, 'webhook-signature': theirs })).toBe(true);
  });

  it('is accepted with any of its signatures, for five minutes in either direction', () => {
    const two = signedHeaders({ id: 'msg_1', timestamp: AT, body: BODY }, [OTHER, SECRET]);
    expect(isBelieved(two)).toBe(true);
    for (const seconds of [-300, 300])
      expect(isBelieved(headers, { nowMs: (AT + seconds) * 1000 })).toBe(true);
    for (const seconds of [-301, 301])
      expect(isBelieved(headers, { nowMs: (AT + seconds) * 1000 })).toBe(false);
  });

  it.each([
    ['another body', headers, `${BODY} `],
    ['another id', { ...headers, 'webhook-id': 'msg_2' }, BODY],
    ['another time', { ...headers, 'webhook-timestamp': String(AT + 1) }, BODY],
    ['another secret', signedHeaders({ id: 'msg_1', timestamp: AT, body: BODY }, [OTHER]), BODY],
    ['another version', { ...headers, 'webhook-signature': signature.replace('v1,', 'v2,') }, BODY],
    ['half a signature', { ...headers, 'webhook-signature': signature.slice(0, 20) }, BODY],
    ['no signature', { 'webhook-id': 'msg_1', 'webhook-timestamp': String(AT) }, BODY],
    ['no time', { ...headers, 'webhook-timestamp': '' }, BODY],
    ['eleven signatures', { ...headers, 'webhook-signature': `${'v1,AAAA '.repeat(10)}${signature}` }, BODY],
  ])('is not accepted with %s', (_what, sent, body) => {
    expect(isBelieved(sent, { body })).toBe(false);
  });
});

it('has a secret of at least 128 bits in base64', () => {
  expect(isWebhookSecret(SECRET)).toBe(true);
  for (const text of [
    '',
    'whsec_',
    'whsec_c2hvcnQ=',
    SECRET.slice(6),
    `${SECRET}\n`,
    `whsec_${'!'.repeat(30)}`,
  ])
    expect(isWebhookSecret(text)).toBe(false);
});
