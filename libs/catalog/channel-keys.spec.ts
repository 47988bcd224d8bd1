import { describe, expect, it } from 'vitest';
import { type Catalog, type Channel, channelsFor, keyMark, withMarkedKey } from './catalog.js';

const channel: Channel = {
  id: 'many-keys',
  protocol: 'openai',
  baseUrl: 'https://vendor.example',
  apiKey: 'key-1',
  apiKeys: ['key-1', 'key-2', 'key-3'],
  webhookSecret: null,
  enabled: true,
  priority: 0,
  weight: 1,
  requestTimeoutMs: 1_000,
  allowPrivateAddress: false,
  honoursIdempotency: false,
  maxConcurrency: null,
  models: new Map([['m', 'm']]),
  costs: new Map(),
  groups: new Set(['g']),
};

describe('the keys of a channel', () => {
  it('are chosen at random', () => {
    const catalog = { channels: [channel], models: new Map() } as unknown as Catalog;
    const used = new Set(
      Array.from({ length: 200 }, () => channelsFor(catalog, { model: 'm', group: 'g' })[0]?.apiKey),
    );
    expect([...used].sort()).toEqual(['key-1', 'key-2', 'key-3']);
  });

  it('are found again by their mark, which does not reveal them', () => {
    const second = { ...channel, apiKey: 'key-2' };
    expect(keyMark(second)).toMatch(/^[\da-f]{16}$/);
    expect(withMarkedKey(channel, keyMark(second)).apiKey).toBe('key-2');
  });

  it('fall back to the first one without a mark, and for a key that is gone', () => {
    expect(withMarkedKey(channel, null).apiKey).toBe('key-1');
    expect(withMarkedKey(channel, keyMark({ ...channel, apiKey: 'revoked' })).apiKey).toBe('key-1');
  });
});
