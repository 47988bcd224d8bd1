import { beforeEach, describe, expect, it } from 'vitest';
import type { FastifyReply } from 'fastify';
import { ManualClock } from '#platform/clock.fixture.js';
import { Throttle } from './throttle.js';

let clock: ManualClock;
let throttle: Throttle;
let headers: Record<string, string>;
const reply = { headers: (sent: Record<string, string>) => (headers = sent) } as unknown as FastifyReply;
const passes = (subject: string, perMinute = 3): boolean => {
  try {
    throttle.count(subject, perMinute, reply);
    return true;
  } catch {
    return false;
  }
};

beforeEach(() => {
  clock = new ManualClock(1_000);
  throttle = new Throttle(clock);
});

describe('the throttle', () => {
  it('lets a fixed number pass per minute, and says how many are left and when there will be more', () => {
    expect([passes('a'), passes('a'), passes('a'), passes('a')]).toEqual([true, true, true, false]);
    clock.advance(15_000);
    expect(() => throttle.count('a', 3, reply)).toThrow('Wait 45 seconds');
    expect(headers).toEqual({
      'x-ratelimit-limit-requests': '3',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '45s',
    });
    clock.advance(45_000);
    expect(passes('a')).toBe(true);
    expect(headers['x-ratelimit-remaining-requests']).toBe('2');
  });

  it('counts each subject separately', () => {
    for (let i = 0; i < 5; i += 1) passes('a');
    expect([passes('a'), passes('b')]).toEqual([false, true]);
  });

  it('remembers a limited number of them, and forgets the oldest', () => {
    for (let i = 0; i < 4; i += 1) passes('first');
    for (let i = 0; i < 49_999; i += 1) passes(`other ${i}`);
    expect(passes('first')).toBe(false);
    passes('one more');
    expect(passes('first')).toBe(true);
  });
});
