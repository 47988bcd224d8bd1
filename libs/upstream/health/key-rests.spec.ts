import { beforeEach, describe, expect, it } from 'vitest';
import type { Channel } from '#catalog/catalog.js';
import { ManualClock } from '#platform/clock.fixture.js';
import { KeyRests } from './key-rests.js';
import { channelTo } from '../upstream.fixture.js';

const START_MS = Date.UTC(2026, 0, 1);
const KEYS = ['first', 'second', 'third'];

describe('the keys of a channel', () => {
  let clock: ManualClock;
  beforeEach(() => {
    clock = new ManualClock(START_MS);
  });
  const channelWith = (apiKey: string, apiKeys = KEYS): Channel =>
    channelTo('http://vendor', { apiKey, apiKeys });
  const taken = (rests: KeyRests, apiKey = 'first') =>
    new Set(Array.from({ length: 200 }, () => rests.withRested(channelWith(apiKey)).apiKey));
  const busy = (retryAfter?: string) => ({ status: 429, retryAfter });

  it.each([
    ['seconds', '30', 30_000],
    ['a date', new Date(START_MS + 30_000).toUTCString(), 30_000],
    ['nothing', undefined, 10_000],
    ['an unreadable text', 'soon', 10_000],
    ['a year', '31536000', 600_000],
  ])('rest after a 429 for as long as the vendor says: %s', (_, retryAfter, restMs) => {
    const rests = new KeyRests(clock);
    rests.note(channelWith('first'), busy(retryAfter));
    expect(taken(rests)).toEqual(new Set(['second', 'third']));
    clock.advance(restMs - 1);
    expect(taken(rests).has('first')).toBe(false);
    clock.advance(1);
    expect(taken(rests)).toEqual(new Set(['first']));
  });

  it('rest if they are wrong or out of credit, but not because of what a request did', () => {
    const rests = new KeyRests(clock);
    for (const status of [200, 400, 403, 500, 503])
      rests.note(channelWith('first'), { status, retryAfter: '30' });
    expect(taken(rests)).toEqual(new Set(['first']));
    rests.note(channelWith('first'), { status: 401, retryAfter: undefined });
    rests.note(channelWith('second'), { status: 402, retryAfter: undefined });
    expect(taken(rests)).toEqual(new Set(['third']));
    expect(taken(rests, 'third')).toEqual(new Set(['third']));
  });

  it('still work if all of them rest: the one whose rest ends first is used', () => {
    const rests = new KeyRests(clock);
    KEYS.forEach((key, index) => rests.note(channelWith(key), busy(String(30 - index))));
    expect(taken(rests)).toEqual(new Set(['third']));
  });

  it('belong to one channel, and a single one has no other', () => {
    const rests = new KeyRests(clock);
    rests.note({ ...channelWith('first'), id: 'another' }, busy('30'));
    rests.note(channelWith('first', ['first']), busy('30'));
    expect(taken(rests)).toEqual(new Set(['first']));
  });
});
