import { describe, expect, it } from 'vitest';
import type { Shape } from '../../api/client.js';
import { changesOf, createdBy, channelValues } from './channel-values.js';

const channel: Shape<'Channel'> = {
  id: 'north',
  protocol: 'openai',
  baseUrl: 'https://api.example.com',
  enabled: true,
  priority: 5,
  weight: 2,
  requestTimeoutMs: 30_000,
  maxConcurrency: null,
  allowPrivateAddress: false,
  honoursIdempotency: true,
  keyMarks: ['0123456789abcdef'],
  webhookSecretMark: null,
  models: { 'a-model': 'their-model' },
  groups: ['studio'],
  createdAt: '2026-01-01T00:00:00.000Z',
};

describe('channel settings', () => {
  it('change nothing if nobody changed them, and the keys stay', () => {
    const values = channelValues(channel);
    expect(changesOf(values, { ...values })).toEqual({ was: {} });
    expect(values.apiKeys).toBe('');
  });

  it('request only what was changed, and say what it was', () => {
    const before = channelValues(channel);
    const after = { ...before, maxConcurrency: 8, models: [{ ours: 'b-model', theirs: ' ' }] };
    expect(changesOf(before, after)).toEqual({
      maxConcurrency: 8,
      models: { 'b-model': 'b-model' },
      was: { maxConcurrency: null, models: { 'a-model': 'their-model' } },
    });
    expect(changesOf(before, { ...before, apiKeys: ' first\n\nsecond ' })).toEqual({
      apiKeys: ['first', 'second'],
      was: {},
    });
  });

  it('treat the document of a service account as one key, however it is written', () => {
    const before = channelValues(channel);
    const pretty = '{\n  "client_email": "a@b",\n  "private_key": "x y"\n}';
    const apiKeys = `first\n${pretty}\n{"client_email": "c@d"}\nlast`;
    expect(changesOf(before, { ...before, apiKeys })).toEqual({
      apiKeys: [pretty, '{"client_email": "c@d"}', 'first', 'last'],
      was: {},
    });
  });

  it('of a new one are all given', () => {
    const values = {
      ...channelValues(null),
      id: ' north ',
      baseUrl: 'https://api.example.com',
      apiKeys: 'a-key',
    };
    expect(createdBy(values)).toEqual({
      id: 'north',
      protocol: 'openai',
      baseUrl: 'https://api.example.com',
      apiKeys: ['a-key'],
      priority: 0,
      weight: 1,
      requestTimeoutMs: 120_000,
      maxConcurrency: null,
      allowPrivateAddress: false,
      honoursIdempotency: false,
      groups: [],
      models: {},
    });
  });
});
