import { expect, it } from 'vitest';
import type { CallerLimits, Limits } from '#identity/key-authenticator.js';
import { callerLimits } from './caller-limits.js';

const defaults = {
  key: { requestsPerMinute: 600, concurrentRequests: 64 },
  account: { requestsPerMinute: 1_200, concurrentRequests: 128 },
};
const none: Limits = {
  requestsPerMinute: null,
  tokensPerMinute: null,
  imagesPerMinute: null,
  runningTasks: null,
  concurrentRequests: null,
};

it.each<[string, Partial<Record<keyof CallerLimits, number>>, Record<string, number>]>([
  ['nothing', {}, { 'key k': 600, 'account a': 1_200 }],
  ['its key, by its customer', { key: 5_000 }, { 'key k': 5_000, 'account a': 1_200 }],
  ['its account', { account: 5_000 }, { 'account a': 5_000 }],
  ['its group', { group: 5_000 }, { 'group g account a': 5_000 }],
  ['all of them', { key: 1, group: 2, account: 3 }, { 'key k': 1, 'group g account a': 2, 'account a': 3 }],
])('limits a caller if somebody set %s', (_what, set, expected) => {
  const of = (name: keyof CallerLimits): Limits => ({ ...none, requestsPerMinute: set[name] ?? null });
  const limits = { key: of('key'), group: of('group'), account: of('account') };
  const caller = { keyId: 'k', accountId: 'a', group: 'g', limits };
  const found = callerLimits(caller, 'requestsPerMinute', defaults);
  expect(Object.fromEntries(found.map(({ subject, most }) => [subject, most]))).toEqual(expected);
});

it('limits everyone by the defaults', () => {
  const caller = { keyId: 'k', accountId: 'a', group: 'g' };
  expect(callerLimits(caller, 'concurrentRequests', defaults).map(({ most }) => most)).toEqual([64, 128]);
});

it.each(['tokensPerMinute', 'imagesPerMinute'] as const)(
  'limits %s only if a limit was set: in a group, for each account',
  (name) => {
    const caller = { keyId: 'k', accountId: 'a', group: 'g' };
    expect(callerLimits(caller, name, defaults)).toEqual([]);
    const limits = { key: none, group: { ...none, [name]: 9 }, account: { ...none, [name]: 20 } };
    expect(callerLimits({ ...caller, limits }, name, defaults)).toEqual([
      { subject: 'group g account a', most: 9 },
      { subject: 'account a', most: 20 },
    ]);
  },
);
