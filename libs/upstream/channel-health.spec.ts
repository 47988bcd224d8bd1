import { once } from 'node:events';
import { Readable } from 'node:stream';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Channel } from '#catalog/catalog.js';
import { ManualClock } from '#platform/clock.js';
import { createRegistry } from '#platform/metrics.js';
import { type CallOutcome, ChannelHealth, type Place } from './channel-health.js';
import { channelTo } from './upstream.fixture.js';

const failed = { kind: 'not_accepted', reason: 'HTTP 503', upstreamStatus: 503 };
const delivered = { kind: 'delivered', upstreamStatus: 200 };

const one: Channel = channelTo('http://one', { id: 'one', requestTimeoutMs: 5_000 });
const two: Channel = channelTo('http://two', { id: 'two' });

let clock: ManualClock;
let health: ChannelHealth;
let changes: string[];

beforeEach(() => {
  clock = new ManualClock(1_000_000);
  changes = [];
  health = new ChannelHealth({
    clock,
    failuresToOpen: 3,
    openMs: 10_000,
    onChange: (id, state) => changes.push(`${id} ${state}`),
  });
});

function enter(channel = one): Place {
  const place = health.enter(channel);
  if (!place) throw new Error('no place');
  return place;
}

function call(outcome: CallOutcome, channel = one): void {
  const place = enter(channel);
  place.report(outcome);
  place.leave();
}

const idsOf = (channels: Channel[]) => channels.map(({ id }) => id);

describe('the breaker of a channel', () => {
  const open = () => [1, 2, 3].forEach(() => call(failed));

  it('opens after failures without a success between them, and not before', () => {
    call(failed);
    call(failed);
    call(delivered);
    call({ kind: 'unknown' });
    call({ kind: 'no_answer', of: 'channel' });
    expect(health.state('one')).toBe('closed');
    call(failed);
    expect(health.state('one')).toBe('open');
    expect(idsOf(health.candidates([one, two]))).toEqual(['two']);
    expect(health.enter(one)).toBeNull();
  });

  it('takes a refusal of the caller’s request for health, and a missing model for nothing', () => {
    call(failed);
    call(failed);
    for (let times = 0; times < 5; times += 1) call({ ...failed, upstreamStatus: 404 });
    expect(health.state('one')).toBe('closed');
    call({ kind: 'refused' });
    call(failed);
    call(failed);
    expect(health.state('one')).toBe('closed');
  });

  it('lets one call try after its time, and closes when that succeeds', () => {
    open();
    clock.advance(9_999);
    expect(health.candidates([one])).toEqual([]);
    clock.advance(1);
    expect(health.candidates([one])).toEqual([one]);
    const trial = enter();
    expect(health.state('one')).toBe('half_open');
    expect(health.candidates([one])).toEqual([]);
    trial.report(delivered);
    expect(health.candidates([one])).toEqual([one]);
    trial.leave();
    expect(changes).toEqual(['one open', 'one half_open', 'one closed']);
  });

  it('opens for the whole time again when the trial fails', () => {
    open();
    clock.advance(10_000);
    call(failed);
    expect(health.state('one')).toBe('open');
    clock.advance(9_999);
    expect(health.enter(one)).toBeNull();
    clock.advance(1);
    call(delivered);
    expect(health.state('one')).toBe('closed');
  });

  it('gives the trial to the next call when one ends without a word, or is lost', () => {
    open();
    clock.advance(10_000);
    enter().leave();
    enter();
    expect(health.enter(one)).toBeNull();
    clock.advance(one.requestTimeoutMs);
    expect(health.enter(one)).not.toBeNull();
  });

  it('is not kept open by calls that began before it opened, and closed by one that succeeds', () => {
    const [early, late] = [enter(), enter()];
    open();
    clock.advance(5_000);
    early.report(failed);
    clock.advance(5_000);
    expect(health.candidates([one])).toEqual([one]);
    late.report(delivered);
    expect(health.state('one')).toBe('closed');
  });

  it('learns nothing from a poll that speaks against its task only', () => {
    for (let times = 0; times < 5; times += 1) call({ kind: 'no_answer', of: 'task' });
    expect(health.state('one')).toBe('closed');
    for (let times = 0; times < 3; times += 1) call({ kind: 'no_answer', of: 'channel' });
    expect(health.state('one')).toBe('open');
  });

  it('says how many calls it bears: none, one for the trial, any', () => {
    expect(health.allowance(one)).toBe(Infinity);
    open();
    expect(health.allowance(one)).toBe(0);
    clock.advance(10_000);
    expect(health.allowance(one)).toBe(1);
    const trial = enter();
    expect(health.allowance(one)).toBe(0);
    trial.report(delivered);
    expect(health.allowance(one)).toBe(Infinity);
    expect(health.allowance({ ...one, maxConcurrency: 4 })).toBe(4);
  });

  it('says when to come again', () => {
    open();
    expect(health.retryAfterSeconds([one])).toBe(5);
    clock.advance(7_500);
    expect(health.retryAfterSeconds([one])).toBe(3);
    expect(health.retryAfterSeconds([one, two])).toBe(1);
    expect(health.retryAfterSeconds([])).toBe(5);
  });
});

describe('the limit of a channel', () => {
  const narrow: Channel = { ...one, maxConcurrency: 2 };

  it('keeps further calls away until a place is free', () => {
    const [first] = [enter(narrow), enter(narrow)];
    expect(idsOf(health.candidates([narrow, two]))).toEqual(['two']);
    expect(health.enter(narrow)).toBeNull();
    first?.leave();
    first?.leave();
    expect(health.enter(narrow)).not.toBeNull();
    expect(health.enter(narrow)).toBeNull();
  });
});

describe('a whole call', () => {
  it('holds a place for as long as it runs, and reports its outcome', async () => {
    const narrow: Channel = { ...one, maxConcurrency: 1 };
    const inside = await health.run(narrow, async () => {
      expect(health.enter(narrow)).toBeNull();
      return delivered;
    });
    expect(inside).toEqual(delivered);
    for (let times = 0; times < 3; times += 1) await health.run(narrow, async () => failed);
    expect(await health.run(narrow, async () => delivered)).toMatchObject({ kind: 'not_accepted' });
  });

  it('says nothing when its caller left, and frees the place when it throws', async () => {
    for (let times = 0; times < 5; times += 1)
      await health.run(
        one,
        async () => failed,
        () => true,
      );
    expect(health.state('one')).toBe('closed');
    const narrow: Channel = { ...two, maxConcurrency: 1 };
    const broken = health.run(narrow, () => Promise.reject(new Error('a fault of ours')));
    await expect(broken).rejects.toThrow('a fault of ours');
    expect(health.enter(narrow)).not.toBeNull();
  });

  it.each(['read to its end', 'destroyed', 'closed before'])(
    'keeps its place until the body of its answer is closed: %s',
    async (how) => {
      const narrow: Channel = { ...one, maxConcurrency: 1 };
      const body = Readable.from(['a', 'b']);
      if (how === 'closed before') await once(body.destroy(), 'close');
      await health.run(narrow, async () => ({ kind: 'answer', body }));
      if (how !== 'closed before') {
        expect(health.candidates([narrow])).toEqual([]);
        const closed = once(body, 'close');
        if (how === 'destroyed') body.destroy();
        else body.resume();
        await closed;
      }
      expect(health.candidates([narrow])).toEqual([narrow]);
    },
  );
});

it('shows states, calls and openings as metrics', async () => {
  const registry = createRegistry('spec');
  health = new ChannelHealth({ clock, failuresToOpen: 1, openMs: 1_000, registry });
  call(failed);
  enter(two);
  const text = await registry.metrics();
  expect(text).toContain('upstream_channel_state{channel="one",program="spec"} 2');
  expect(text).toContain('upstream_channel_state{channel="two",program="spec"} 0');
  expect(text).toContain('upstream_channel_calls{channel="two",program="spec"} 1');
  expect(text).toContain('upstream_channel_opened_total{channel="one",program="spec"} 1');
});
