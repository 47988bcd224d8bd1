import { once } from 'node:events';
import { Readable } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Channel } from '#catalog/catalog.js';
import { ManualClock } from '#platform/clock.fixture.js';
import { createRegistry } from '#platform/metrics.js';
import {
  type CallOutcome,
  ChannelHealth,
  type HealthOptions,
  type Place,
  type Work,
} from './channel-health.js';
import { channelTo } from '../upstream.fixture.js';

const failed = { kind: 'not_accepted', reason: 'HTTP 503', upstreamStatus: 503 };
const delivered = { kind: 'delivered', upstreamStatus: 200 };

const one: Channel = channelTo('http://one', { id: 'one', requestTimeoutMs: 5_000 });
const two: Channel = channelTo('http://two', { id: 'two' });

let clock: ManualClock;
let health: ChannelHealth;
let changes: string[];
/** What the vendor answers to something free, and how often it was asked. */
let verdict: 'ok' | 'failed' | 'unsure';
let probes: number;

beforeEach(() => {
  clock = new ManualClock(1_000_000);
  changes = [];
  [verdict, probes] = ['ok', 0];
  health = healthWith({ failuresToOpen: 3 });
});

function healthWith(options: Pick<HealthOptions, 'failuresToOpen' | 'registry' | 'isOff'>): ChannelHealth {
  return new ChannelHealth({
    ...options,
    clock,
    openMs: 10_000,
    probe: async () => {
      probes += 1;
      return { verdict };
    },
    onChange: ({ channel, state }) => changes.push(`${channel} ${state}`),
  });
}

const workOf = (accountId: string, model: string | null = 'm'): Work => ({ accountId, model });
const [ann, bob] = [workOf('ann'), workOf('bob')];
const stateOf = (channel: Channel, model: string | null = 'm') => health.state(channel.id, model);

function enter(channel = one, work = ann): Place {
  const place = health.enter(channel, work);
  if (!place) throw new Error('no place');
  return place;
}

function call(outcome: CallOutcome, channel = one, work = ann): void {
  const place = enter(channel, work);
  place.report(outcome);
  place.leave();
}

/** Waits until a probe's result has been taken in. */
const probed = () => new Promise((resolve) => setImmediate(resolve));

const idsOf = (channels: Channel[]) => channels.map(({ id }) => id);

it('leaves out channels that are switched off, unless all are', () => {
  const off = new Set(['one']);
  health = healthWith({ failuresToOpen: 3, isOff: (id) => off.has(id) });
  expect(idsOf(health.candidates([one, two], ann))).toEqual(['two']);
  off.add('two');
  expect(idsOf(health.candidates([one, two], ann))).toEqual(['one', 'two']);
});

describe('a channel’s circuit breaker', () => {
  const open = () => [ann, bob, ann].forEach((work) => call(failed, one, work));

  it('opens after failures without a success between them, and not before', () => {
    call(failed);
    call(failed);
    call(delivered);
    call({ kind: 'unknown' });
    call({ kind: 'no_answer', of: 'channel' });
    expect(stateOf(one)).toBe('closed');
    call(failed, one, bob);
    expect(stateOf(one)).toBe('open');
    expect(idsOf(health.candidates([one, two], ann))).toEqual(['two']);
    expect(health.enter(one, ann)).toBeNull();
  });

  it('treats a refusal of the caller’s request as healthy, and ignores a missing model', () => {
    call(failed);
    call(failed);
    for (const upstreamStatus of [404, 405, 409, 413, 431, 451])
      call({ ...failed, upstreamStatus }, one, bob);
    expect(stateOf(one)).toBe('closed');
    call({ kind: 'refused' });
    call(failed);
    call(failed, one, bob);
    expect(stateOf(one)).toBe('closed');
  });

  it('lets one call try after its time, and closes if that succeeds', () => {
    open();
    clock.advance(9_999);
    expect(health.candidates([one], ann)).toEqual([]);
    clock.advance(1);
    expect(health.candidates([one], ann)).toEqual([one]);
    const trial = enter();
    expect(health.enter(one, bob)).toBeNull();
    expect(stateOf(one)).toBe('half_open');
    expect(health.candidates([one], ann)).toEqual([]);
    trial.report(delivered);
    expect(health.candidates([one], ann)).toEqual([one]);
    trial.leave();
    expect(changes).toEqual(['one open', 'one half_open', 'one closed']);
  });

  it.each([3_600_000, -3_600_000])('is open for its time though the clock is set by %d ms', (ms) => {
    for (const work of [ann, bob, ann]) call(failed, one, work);
    clock.jump(ms);
    expect(health.candidates([one], ann)).toEqual([]);
    expect(health.vitalsOfAll()).toMatchObject([{ state: 'open', openedAtMs: clock.nowMs() }]);
    clock.advance(10_000);
    expect(health.candidates([one], ann)).toEqual([one]);
    call(delivered);
    expect(stateOf(one)).toBe('closed');
  });

  it('opens for the whole time again if the trials of two accounts fail', async () => {
    open();
    clock.advance(10_000);
    call(failed);
    await probed();
    call(failed, one, bob);
    expect(stateOf(one)).toBe('open');
    clock.advance(9_999);
    expect(health.enter(one, ann)).toBeNull();
    clock.advance(1);
    call(delivered);
    expect(stateOf(one)).toBe('closed');
  });

  it('gives the trial to the next call if one ends without a result, or is lost', () => {
    open();
    clock.advance(10_000);
    enter().leave();
    enter();
    expect(health.enter(one, ann)).toBeNull();
    clock.advance(one.requestTimeoutMs);
    expect(health.enter(one, ann)).not.toBeNull();
  });

  it('is not kept open by calls that began before it opened, but closed by one that succeeds', () => {
    const [early, late] = [enter(), enter()];
    open();
    clock.advance(5_000);
    early.report(failed);
    clock.advance(5_000);
    expect(health.candidates([one], ann)).toEqual([one]);
    late.report(delivered);
    expect(stateOf(one)).toBe('closed');
  });

  it('learns nothing from a poll that only speaks against its task', () => {
    for (const work of [ann, bob, ann, bob]) call({ kind: 'no_answer', of: 'task' }, one, work);
    expect(stateOf(one)).toBe('closed');
    for (const work of [ann, bob, ann]) call({ kind: 'no_answer', of: 'channel' }, one, work);
    expect(stateOf(one)).toBe('open');
  });

  it('says how many calls it allows: none, one as a trial, any', () => {
    expect(health.allowance(one)).toBe(Infinity);
    for (const id of ['ann', 'bob', 'ann']) call(failed, one, workOf(id, null));
    expect(health.allowance(one)).toBe(0);
    clock.advance(10_000);
    expect(health.allowance(one)).toBe(1);
    const trial = enter(one, workOf('ann', null));
    expect(health.allowance(one)).toBe(0);
    trial.report(delivered);
    expect(health.allowance(one)).toBe(Infinity);
    expect(health.allowance({ ...one, maxConcurrency: 4 })).toBe(4);
  });

  it('says when to try again', () => {
    open();
    expect(health.retryAfterSeconds([one], 'm')).toBe(5);
    clock.advance(7_500);
    expect(health.retryAfterSeconds([one], 'm')).toBe(3);
    expect(health.retryAfterSeconds([one, two], 'm')).toBe(1);
    expect(health.retryAfterSeconds([], 'm')).toBe(5);
  });
});

describe('the breaker and a single account', () => {
  const fail = (work = ann, times = 10) => Array.from({ length: times }, () => call(failed, one, work));

  it('is not opened by its failures, however many, while the vendor answers us', async () => {
    fail();
    await probed();
    fail();
    await probed();
    expect(stateOf(one)).toBe('closed');
    // Probes within a second are made only once.
    expect(probes).toBe(1);
    call(failed, one, bob);
    expect(stateOf(one)).toBe('closed');
  });

  it.each(['failed', 'unsure'] as const)(
    'is opened by them only if our own probe failed: %s',
    async (word) => {
      verdict = word;
      fail(ann, 3);
      expect(stateOf(one)).toBe('closed');
      await probed();
      expect(stateOf(one)).toBe(word === 'failed' ? 'open' : 'closed');
    },
  );

  it('is not opened by accounts that fail together while another is served', async () => {
    call(delivered, one, workOf('eve'));
    for (const work of [ann, bob, ann, bob]) call(failed, one, work);
    await probed();
    expect(stateOf(one)).toBe('closed');
    clock.advance(10_000);
    for (const work of [ann, bob, ann]) call(failed, one, work);
    expect(stateOf(one)).toBe('open');
  });

  it('is not opened if a call succeeds while the vendor is probed', async () => {
    verdict = 'failed';
    fail(ann, 3);
    call(delivered, one, bob);
    await probed();
    expect(stateOf(one)).toBe('closed');
  });

  it('is not kept open by its trials: the next account gets one at once', async () => {
    for (const work of [ann, bob, ann]) call(failed, one, work);
    clock.advance(10_000);
    call(failed);
    expect(health.enter(one, bob)).toBeNull();
    await probed();
    expect(health.enter(one, ann)).toBeNull();
    call(delivered, one, bob);
    expect(stateOf(one)).toBe('closed');
    expect(health.candidates([one], ann)).toEqual([one]);
  });

  it('stays open for the whole time if our probe fails along with its trial', async () => {
    for (const work of [ann, bob, ann]) call(failed, one, work);
    clock.advance(10_000);
    verdict = 'failed';
    call(failed);
    await probed();
    clock.advance(9_999);
    expect(health.enter(one, bob)).toBeNull();
    clock.advance(1);
    expect(health.enter(one, bob)).not.toBeNull();
  });
});

it('counts each model of a channel separately', () => {
  for (const id of ['ann', 'bob', 'ann']) call(failed, one, workOf(id, 'broken'));
  expect(stateOf(one, 'broken')).toBe('open');
  expect(stateOf(one, 'm')).toBe('closed');
  call(delivered, one, workOf('ann', 'm'));
  expect(stateOf(one, 'broken')).toBe('open');
  expect(health.vitalsOfAll()).toMatchObject([
    {
      channelId: 'one',
      model: 'broken',
      state: 'open',
      failures: 3,
      lastFailure: { kind: 'not_accepted', status: 503 },
    },
    { channelId: 'one', model: 'm', state: 'closed', failures: 0, lastFailure: null },
  ]);
});

describe('a place in a queue', () => {
  const narrow: Channel = { ...one, maxConcurrency: 2 };
  const wait = { waitMs: 60_000 };

  async function entered(work: Work, channels = [narrow]) {
    const answer = await health.enterOne(channels, work, wait);
    if (!('place' in answer)) throw new Error(`refused: ${answer.reason}`);
    return answer;
  }

  it('goes to the account that has none, before the one that has all', async () => {
    const held = [enter(narrow), enter(narrow)];
    const order: string[] = [];
    const places = [ann, ann, bob].map(async (work) => {
      const { place } = await entered(work);
      order.push(work.accountId);
      return place;
    });
    held[0]?.leave();
    const ofBob = await places[2];
    held[1]?.leave();
    await places[0];
    expect(order).toEqual(['bob', 'ann']);
    ofBob?.leave();
    await places[1];
  });

  it('is the first free one on any of the channels, and only one', async () => {
    const [other, third] = [
      { ...two, maxConcurrency: 1 },
      { ...two, id: 'three', maxConcurrency: 1 },
    ];
    const held = [enter(other, bob), enter(third, bob)];
    const waits = entered(ann, [other, third]);
    for (const place of held) place.leave();
    const { place } = await waits;
    expect(health.vitalsOfAll().reduce((sum, { inFlight }) => sum + inFlight, 0)).toBe(1);
    place.leave();
    expect([...health.placesOfAll().values()].map(({ taken, waiting }) => taken + waiting)).toEqual([0, 0]);
  });

  it('is refused after its time, and says whose share is used up', async () => {
    enter(narrow);
    enter(narrow);
    expect(await health.enterOne([narrow], ann, { waitMs: 5 })).toMatchObject({ reason: 'over_share' });
    expect(await health.enterOne([narrow], bob, { waitMs: 5 })).toMatchObject({ reason: 'full' });
    expect(await health.enterOne([narrow], bob, { ...wait, signal: AbortSignal.abort() })).toMatchObject({
      reason: 'aborted',
    });
  });

  it('is not taken if the breaker has opened meanwhile', async () => {
    const held = [enter(narrow), enter(narrow, bob)];
    const waits = health.enterOne([narrow], workOf('eve'), wait);
    for (const place of held) place.report(failed);
    held[0]?.report(failed);
    expect(stateOf(one)).toBe('open');
    held[0]?.leave();
    expect(await waits).toMatchObject({ granted: false });
    held[1]?.leave();
    expect([...health.placesOfAll().values()].map(({ taken }) => taken)).toEqual([0]);
  });
});

describe('a channel’s limit', () => {
  const narrow: Channel = { ...one, maxConcurrency: 2 };

  it('keeps further calls away until a place is free', () => {
    const [first] = [enter(narrow), enter(narrow)];
    expect(health.enter(narrow, ann)).toBeNull();
    first?.leave();
    first?.leave();
    expect(health.enter(narrow, ann)).not.toBeNull();
    expect(health.enter(narrow, ann)).toBeNull();
  });
});

describe('a whole call', () => {
  it('holds a place for as long as it runs, and reports its outcome', async () => {
    const narrow: Channel = { ...one, maxConcurrency: 1 };
    const inside = await health.run(
      narrow,
      async () => {
        expect(health.enter(narrow, ann)).toBeNull();
        return delivered;
      },
      { work: ann },
    );
    expect(inside).toEqual(delivered);
    for (const work of [ann, bob, ann]) await health.run(narrow, async () => failed, { work });
    expect(await health.run(narrow, async () => delivered, { work: ann })).toMatchObject({
      kind: 'not_accepted',
    });
  });

  it('reports nothing if its caller left, and frees the place if it throws', async () => {
    for (const work of [ann, bob, ann, bob])
      await health.run(one, async () => failed, { work, isGivenUp: () => true });
    expect(stateOf(one)).toBe('closed');
    const narrow: Channel = { ...two, maxConcurrency: 1 };
    const broken = health.run(narrow, () => Promise.reject(new Error('a fault of ours')), { work: ann });
    await expect(broken).rejects.toThrow('a fault of ours');
    expect(health.enter(narrow, ann)).not.toBeNull();
  });

  it.each(['read to its end', 'destroyed', 'closed before'])(
    'keeps its place until the body of its answer is closed: %s',
    async (how) => {
      const narrow: Channel = { ...one, maxConcurrency: 1 };
      const body = Readable.from(['a', 'b']);
      if (how === 'closed before') await once(body.destroy(), 'close');
      await health.run(narrow, async () => ({ kind: 'answer', body }), { work: ann });
      if (how !== 'closed before') {
        expect(health.enter(narrow, ann)).toBeNull();
        const closed = once(body, 'close');
        if (how === 'destroyed') body.destroy();
        else body.resume();
        await closed;
      }
      expect(health.enter(narrow, ann)).not.toBeNull();
    },
  );
});

it('shows states, calls and openings as metrics', async () => {
  const registry = createRegistry('spec');
  health = healthWith({ failuresToOpen: 2, registry });
  call(failed);
  call(failed, one, bob);
  enter(two);
  const text = await registry.metrics();
  expect(text).toContain('upstream_channel_state{channel="one",model="m",program="spec"} 2');
  expect(text).toContain('upstream_channel_state{channel="two",model="m",program="spec"} 0');
  expect(text).toContain('upstream_channel_calls{channel="two",program="spec"} 1');
  expect(text).toContain('upstream_channel_waiting{channel="two",program="spec"} 0');
  expect(text).toContain('upstream_channel_opened_total{channel="one",model="m",program="spec"} 1');
});
