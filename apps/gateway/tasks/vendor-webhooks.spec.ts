import { afterAll, expect, it } from 'vitest';
import type { Channel } from '#catalog/catalog.js';
import { Upstreams } from '#upstream/adapters.js';
import { channelTo } from '#upstream/upstream.fixture.js';
import type { GatewayConfig } from '../gateway.config.js';
import { webhookUrlOf } from './vendor-webhooks.js';

const upstreams = new Upstreams();
afterAll(() => upstreams.close());

const SECRET = { webhookSecret: 'whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQ=' };

it.each<[string, Partial<Channel>, string | undefined, boolean]>([
  ['fal', { protocol: 'fal' }, 'https://relay.example', true],
  ['Replicate with a secret', { protocol: 'replicate', ...SECRET }, 'https://relay.example/base', true],
  ['Replicate without', { protocol: 'replicate' }, 'https://relay.example', false],
  ['a vendor without webhooks', { protocol: 'xai', ...SECRET }, 'https://relay.example', false],
  ['a relay without an address', { protocol: 'fal' }, undefined, false],
  ['a relay that no vendor reaches', { protocol: 'fal' }, 'http://127.0.0.1:8787', false],
  ['an upstream of our own', { protocol: 'fal', allowPrivateAddress: true }, 'http://127.0.0.1:8787', true],
])('gives %s its address for webhooks, or none', (_of, changed, publicBaseUrl, isGiven) => {
  const channel = channelTo('https://vendor.example', { id: 'main', allowPrivateAddress: false, ...changed });
  const config = { publicBaseUrl } as GatewayConfig;
  const address = `${publicBaseUrl}/vendor-webhooks/main`;
  expect(webhookUrlOf(channel, { upstreams, config })).toBe(isGiven ? address : undefined);
});
