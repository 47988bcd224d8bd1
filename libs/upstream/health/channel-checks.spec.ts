import { beforeEach, expect, it } from 'vitest';
import type { Channel } from '#catalog/catalog.js';
import { ManualClock } from '#platform/clock.fixture.js';
import { createRegistry } from '#platform/metrics.js';
import { channelTo } from '../upstream.fixture.js';
import { ChannelChecks } from './channel-checks.js';
import type { KeyTrial } from './probe.js';

const down = {
  verdict: 'failed',
  status: 503,
  finding: 'vendor_fault',
  detail: 'has a fault of its own',
} as const;
const fine = {
  verdict: 'ok',
  status: 200,
  finding: 'answers',
  detail: 'answers, and takes the key',
} as const;
type Answer = Pick<KeyTrial, 'verdict' | 'status' | 'finding' | 'detail'>;

let clock: ManualClock;
let checks: ChannelChecks;
let channels: Channel[];
let answers: Record<string, readonly Answer[]>;
let servedMs: number | undefined;
let changes: string[];

beforeEach(() => {
  clock = new ManualClock(1_000_000);
  channels = [channelTo('http://one', { id: 'one' }), channelTo('http://two', { id: 'two' })];
  answers = { one: [fine], two: [fine] };
  [servedMs, changes] = [undefined, []];
  checks = new ChannelChecks({
    clock,
    registry: createRegistry('test'),
    channels: async () => channels,
    probeKeys: async ({ id }) =>
      answers[id]!.map((each, at) => ({ ...each, key: at + 1, latencyMs: 1, path: '/v1/models' })),
    lastServedMs: () => servedMs,
    onChange: ({ channel, state }) => changes.push(`${channel} ${state}`),
  });
});

async function rounds(count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) {
    clock.advance(60_000);
    await checks.round();
  }
}

it('switches a channel off that fails twice in a row, and on again at the first test that it passes', async () => {
  answers['one'] = [down];
  await rounds(1);
  expect(checks.isOff('one')).toBe(false);
  await rounds(2);
  expect([checks.isOff('one'), checks.isOff('two'), changes]).toEqual([true, false, ['one off']]);
  answers['one'] = [fine];
  await rounds(1);
  expect([checks.isOff('one'), changes]).toEqual([false, ['one off', 'one on']]);
  answers['one'] = [down];
  await rounds(1);
  expect(checks.isOff('one')).toBe(false);
});

it('leaves a channel on that serves calls, or has a working key', async () => {
  answers = { one: [down], two: [down, fine] };
  await rounds(1);
  servedMs = clock.elapsedMs() + 1;
  await rounds(1);
  expect(changes).toEqual([]);
  servedMs = undefined;
  await rounds(2);
  expect(changes).toEqual(['one off']);
});

it.each<[string, Answer, boolean]>([
  ['no answer', { verdict: 'failed', status: null, finding: 'no_answer', detail: 'no answer' }, true],
  [
    'a key that is refused',
    { verdict: 'failed', status: 401, finding: 'refuses_key', detail: 'refuses the key' },
    false,
  ],
  [
    'a key that may not ask',
    { verdict: 'failed', status: 403, finding: 'refuses_key', detail: 'refuses the key' },
    false,
  ],
  [
    'too many requests',
    { verdict: 'unsure', status: 429, finding: 'asked_too_often', detail: 'too often' },
    false,
  ],
])('considers a channel down with %s: %o %s', async (_what, answer, isDown) => {
  answers['one'] = [answer];
  await rounds(2);
  expect(checks.isOff('one')).toBe(isDown);
});

it('forgets a channel that was removed from the catalog', async () => {
  answers['one'] = [down];
  await rounds(2);
  channels = [channels[1]!, { ...channels[0]!, enabled: false }];
  await rounds(1);
  expect(checks.isOff('one')).toBe(false);
});
