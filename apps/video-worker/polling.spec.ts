import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../test/support/bus.js';
import { FaultyUpstream } from './faulty-upstream.fixture.js';
import { type RunningWorker, WorkerUnderTest } from './video-worker.fixture.js';

const MANY = 100;

let under: WorkerUnderTest;
let upstream: FaultyUpstream;

beforeEach(async () => {
  under = await WorkerUnderTest.start();
  upstream = await FaultyUpstream.before(under.sandbox.url);
});

afterEach(async () => {
  await under.close();
  await upstream.close();
});

/** Sends the channel's polls through the faulty upstream, after the tasks were created. */
const lead = () =>
  under.tasks.owner.query(`UPDATE channels SET base_url = $1 WHERE id = 'sandbox'`, [upstream.url]);

/** Another channel, directly to the sandbox. */
const addChannel = (id: string) =>
  under.tasks.owner.query(
    `INSERT INTO channels (id, protocol, base_url, api_key, allow_private_address)
     VALUES ($1, 'openai-xai', $2, 'sandbox-key', true)`,
    [id, under.sandbox.url],
  );

const accept = (count: number, prompt: string) =>
  Promise.all(Array.from({ length: count }, () => under.accepted(prompt)));

const opened = (worker: RunningWorker) => worker.metric('tollgate_worker_channel_opened_total');

async function openedTimes(worker: RunningWorker, times: number): Promise<void> {
  await until(`the channel was tried in vain ${times} times`, async () => (await opened(worker)) >= times);
}

describe('a channel that is down', () => {
  it('is tried occasionally instead of for each task, and ends none', async () => {
    const tasks = await accept(MANY, 'a boat');
    await lead();
    upstream.isDown = true;
    const worker = await under.worker({ concurrency: 8 });
    await openedTimes(worker, 6);
    // The polls before it was probed itself, since a single account failed; those meanwhile, and the trials since.
    expect(upstream.polls).toBeLessThanOrEqual(8 + 5 + 8 + (await opened(worker)));
    const states = await under.tasks.owner.query('SELECT DISTINCT state FROM tasks');
    expect(states.rows).toEqual([{ state: 'submitted' }]);

    upstream.isDown = false;
    for (const task of tasks) expect(await under.endOf(task)).toMatchObject({ outcome: 'completed' });
    expect(await worker.metric('tollgate_worker_channel_state')).toBe(0);
  });

  it('leaves the tasks of other channels alone', async () => {
    await accept(MANY, 'a boat');
    await addChannel('other');
    const other = await under.accepted('a boat');
    await under.tasks.owner.query(`UPDATE tasks SET channel_id = 'other' WHERE id = $1`, [other.id]);
    await lead();
    upstream.isDown = true;
    await under.worker({ concurrency: 4, channelOpenMs: 60_000 });
    expect(await under.endOf(other)).toMatchObject({ outcome: 'completed' });
    expect(under.ended).toHaveLength(1);
  });

  it('fails a task long past its deadline, and records its cost', async () => {
    const late = await under.accepted('a boat', { deadlineMs: 1 });
    const others = await accept(5, 'a boat');
    await under.tasks.owner.query(`UPDATE tasks SET next_poll_at = now() + interval '1 hour' WHERE id = $1`, [
      late.id,
    ]);
    await lead();
    upstream.isDown = true;
    const worker = await under.worker({ channelOpenMs: 300 });
    await openedTimes(worker, 1);
    await under.tasks.owner.query('UPDATE tasks SET next_poll_at = now() WHERE id = $1', [late.id]);
    expect(await under.endOf(late)).toMatchObject({ outcome: 'failed' });
    expect((await under.tasks.row(late.id))['unbilled_cost']).toMatch(/accepted and did not end/);
    upstream.isDown = false;
    for (const task of others) expect(await under.endOf(task)).toMatchObject({ outcome: 'completed' });
  });

  it('is not blamed for a task that it has forgotten', async () => {
    const forgotten = await under.accepted('a boat');
    await under.tasks.owner.query(`UPDATE tasks SET upstream_id = 'gone' WHERE id = $1`, [forgotten.id]);
    const worker = await under.worker({ channelFailuresToOpen: 1 });
    await until('it was asked often', async () => (await worker.metric('tollgate_worker_polls_total')) > 5);
    expect(await opened(worker)).toBe(0);
    expect(await under.tasks.row(forgotten.id)).toMatchObject({ state: 'submitted' });
  });
});

describe('many tasks', () => {
  it('are polled by no more calls at once than their channel allows', async () => {
    const tasks = await accept(40, 'a boat');
    await under.tasks.owner.query('UPDATE channels SET max_concurrency = 2');
    await lead();
    upstream.delayMs = 5;
    await under.worker({ copyConcurrency: 1 });
    for (const task of tasks) expect(await under.endOf(task)).toMatchObject({ outcome: 'completed' });
    // Two polls and a copy.
    expect(upstream.mostAtOnce).toBeLessThanOrEqual(3);
  });

  it('on a slow channel leave places for those on another', async () => {
    await accept(8, 'a boat [[fault:never-finish]]');
    await addChannel('other');
    const others = await accept(8, 'a boat');
    const ids = others.map(({ id }) => id);
    await under.tasks.owner.query(`UPDATE tasks SET channel_id = 'other' WHERE id = ANY ($1)`, [ids]);
    await lead();
    upstream.delayMs = 5_000;
    await under.worker({ concurrency: 4 });
    for (const task of others) expect(await under.endOf(task)).toMatchObject({ outcome: 'completed' });
    expect(upstream.mostAtOnce).toBeLessThanOrEqual(3);
  });

  it('are copied a few at a time, while others are polled', async () => {
    await under.close();
    under = await WorkerUnderTest.start({ slowSeconds: 4 });
    const slow = await accept(3, 'a boat [[fault:slow-bytes]]');
    const failing = await accept(20, 'a boat [[fault:fail-late]]');
    await under.worker({ concurrency: 4, copyConcurrency: 1 });
    for (const task of failing) expect(await under.endOf(task)).toMatchObject({ outcome: 'failed' });
    expect(under.ended.filter(({ outcome }) => outcome === 'completed').length).toBeLessThan(3);
    for (const task of slow) expect(await under.endOf(task)).toMatchObject({ outcome: 'completed' });
    expect(await under.stats()).toMatchObject({ downloads: 3 });
  });

  it('are found on a new channel too', async () => {
    const known = await under.accepted('a boat');
    await under.worker();
    await under.endOf(known);
    const task = await under.accepted('a boat [[work:0.2]]');
    await addChannel('new');
    await under.tasks.owner.query(`UPDATE tasks SET channel_id = 'new' WHERE id = $1`, [task.id]);
    expect(await under.endOf(task)).toMatchObject({ outcome: 'completed', channel: 'new' });
  });
});
