import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '#platform/clock.fixture.js';
import { Upstreams } from '../adapters.js';
import { UpstreamConnections } from '../connections.js';
import { channelTo, json, startStub, type StubUpstream } from '../upstream.fixture.js';
import type { ChannelWebhook } from '../webhooks/vendor-webhooks.js';
import { FalWebhooks } from './fal.webhooks.js';

/* Which of fal's webhooks are believed, and how often its keys are fetched. */

const APP = 'fal-ai/kling-video';
const BODY = JSON.stringify({ request_id: '4d1f', status: 'OK' });
const [ours, newer, foreign] = [1, 2, 3].map(() => generateKeyPairSync('ed25519'));
const jwkOf = ({ publicKey }: { publicKey: KeyObject }) => publicKey.export({ format: 'jwk' });
const START_MS = 1_800_000_000_000;
const MINUTE_MS = 60_000;

let connections: UpstreamConnections;
let clock: ManualClock;
let webhooks: FalWebhooks;
let vendor: StubUpstream;
let keys: unknown;

beforeEach(async () => {
  connections = new UpstreamConnections();
  clock = new ManualClock(START_MS);
  webhooks = new FalWebhooks(connections, clock);
  keys = {
    keys: [{ kty: 'RSA', n: 'AQAB', e: 'AQAB' }, { kty: 'OKP', crv: 'Ed25519', x: '?' }, jwkOf(ours!)],
  };
  vendor = await startStub((_request, response) => json(response, keys === null ? 503 : 200, keys ?? {}));
});
afterEach(async () => {
  await connections.close();
  await vendor.close();
});

interface Of {
  by?: { privateKey: KeyObject } | undefined;
  atMs?: number;
  nowMs?: number;
  changed?: Partial<ChannelWebhook>;
  headers?: Record<string, string>;
}

function read({ by = ours, atMs = clock.nowMs(), nowMs = atMs, changed = {}, headers = {} }: Of = {}) {
  const timestamp = String(atMs / 1000);
  const digest = createHash('sha256').update(BODY).digest('hex');
  const signature = sign(null, Buffer.from(`4d1f\nuser\n${timestamp}\n${digest}`), by!.privateKey);
  const sent = {
    'x-fal-webhook-request-id': '4d1f',
    'x-fal-webhook-user-id': 'user',
    'x-fal-webhook-timestamp': timestamp,
    'x-fal-webhook-signature': signature.toString('hex'),
  };
  const webhook = { headers: { ...sent, ...headers }, body: Buffer.from(BODY), query: { app: APP }, nowMs };
  const channel = channelTo(vendor.url, { protocol: 'fal' });
  return webhooks.read(channel, { ...webhook, ...changed });
}

const believed = { upstreamIds: [`${APP}/requests/4d1f`] };

describe('a webhook of fal', () => {
  it('is believed if one of its keys signed these bytes a moment ago', async () => {
    expect(await read()).toEqual(believed);
    expect(await read({ nowMs: START_MS + 299_000 })).toEqual(believed);
    expect(vendor.requests).toMatchObject([{ path: '/.well-known/jwks.json' }]);
  });

  it.each<[string, Of]>([
    ['another key', { by: foreign }],
    ['other bytes', { changed: { body: Buffer.from(BODY.replace('4d1f', '4d1e')) } }],
    ['another user', { headers: { 'x-fal-webhook-user-id': 'another' } }],
    ['no signature', { changed: { headers: {} } }],
    ['half a signature', { headers: { 'x-fal-webhook-signature': 'abcdef' } }],
    ['an old timestamp', { nowMs: START_MS + 301_000 }],
    ['a future timestamp', { nowMs: START_MS - 301_000 }],
    ['no timestamp', { headers: { 'x-fal-webhook-timestamp': 'NaN' } }],
  ])('is not believed with %s', async (_what, of) => {
    expect(await read(of)).toBeNull();
  });

  it.each([{}, { app: '../../x' }, { app: ['a', 'b'] }, { app: 'a/../b' }])(
    'is about no task at the address %j',
    async (query) => {
      expect(await read({ changed: { query } })).toEqual({ upstreamIds: [] });
    },
  );
});

describe('the keys of fal', () => {
  it('are fetched once for many, and again for a signature by none of them, at most every minute', async () => {
    expect(await Promise.all([read(), read(), read()])).toEqual([believed, believed, believed]);
    expect(vendor.requests).toHaveLength(1);
    for (let times = 0; times < 5; times += 1) expect(await read({ by: newer })).toBeNull();
    expect(vendor.requests).toHaveLength(1);
    keys = { keys: [jwkOf(newer!)] };
    clock.jump(-60 * MINUTE_MS);
    clock.advance(MINUTE_MS);
    expect(await read({ by: newer })).toEqual(believed);
    expect(await read({ by: ours })).toBeNull();
    expect(vendor.requests).toHaveLength(2);
  });

  it('are kept for a day while fal does not answer', async () => {
    expect(await read()).toEqual(believed);
    keys = null;
    clock.advance(MINUTE_MS);
    expect(await read({ by: newer })).toBeNull();
    clock.advance(MINUTE_MS);
    expect(await read()).toEqual(believed);
    clock.advance(24 * 60 * MINUTE_MS);
    expect(await read()).toBeNull();
  });
});

it('requests webhooks for videos, but not for images', async () => {
  const upstreams = new Upstreams();
  const adapter = upstreams.adapterFor('fal');
  const channel = channelTo(vendor.url, { protocol: 'fal' });
  const request = { model: `${APP}/v2/text-to-video`, prompt: 'p', seconds: 5 };
  const options = { idempotencyKey: 'k', signal: AbortSignal.timeout(60_000) };
  const webhookUrl = 'https://relay.example/vendor-webhooks/fal';
  await adapter.createVideo(channel, request, { ...options, webhookUrl });
  await adapter.createVideo(channel, request, options);
  const [first, second] = vendor.requests.map(({ path }) => new URL(path, vendor.url).searchParams);
  expect(first?.get('fal_webhook')).toBe(`${webhookUrl}?app=${encodeURIComponent(APP)}`);
  expect([...second!]).toEqual([]);
  await upstreams.close();
});
