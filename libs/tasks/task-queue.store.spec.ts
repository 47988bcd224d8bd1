import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LeasedTask } from './leased-task.js';
import { TaskQueue } from './task-queue.store.js';
import { TasksUnderTest } from './tasks.fixture.js';

let tasks: TasksUnderTest;

beforeEach(async () => {
  tasks = await TasksUnderTest.start();
});

afterEach(() => tasks.close());

const LEASE_MS = 60_000;
const claim = (limit: number) =>
  tasks.queue.claimDue(new Map([['sandbox', limit]]), { limit, leaseMs: LEASE_MS });
const file = { key: 'videos/x.mp4', bytes: 123, type: 'video/mp4', lifeMs: 1_500_000 };
const failure = { code: 'generation_failed' as const, message: 'It failed.' };

async function claimOne(): Promise<LeasedTask> {
  const [task] = await claim(10);
  if (!task) throw new Error('nothing is due');
  return task;
}

/** As if time had passed. */
async function endLeases(): Promise<void> {
  await tasks.owner.query('UPDATE tasks SET next_poll_at = now() WHERE next_poll_at IS NOT NULL');
}

describe('the queue of tasks', () => {
  it('hands a due task to one worker only, the longest due first', async () => {
    const ids = [];
    for (let number = 0; number < 20; number += 1) ids.push((await tasks.submitted(`up-${number}`)).id);
    await tasks.store.toSubmitted((await tasks.submitting()).id, {
      upstreamId: 'later',
      firstPollMs: 60_000,
    });
    await tasks.created();
    const first = await claim(2);
    expect(first.map(({ id }) => id).sort()).toEqual(ids.slice(0, 2).sort());
    const rest = await Promise.all(Array.from({ length: 6 }, () => claim(5)));
    const claimed = [...first, ...rest.flat()].map(({ id }) => id);
    const more = (await claim(50)).map(({ id }) => id);
    expect([...claimed, ...more].sort()).toEqual([...ids].sort());
    expect(await claim(50)).toEqual([]);
  });

  it('takes turns among accounts if more is due than is taken', async () => {
    for (let number = 0; number < 30; number += 1) await tasks.submitted(`many-${number}`);
    for (let number = 0; number < 3; number += 1)
      await tasks.submitted(`few-${number}`, { accountId: 'bob' });
    const places = new Map([['sandbox', 10]]);
    const limits = { limit: 6, leaseMs: LEASE_MS };
    const owners = (claimed: LeasedTask[]) => claimed.map(({ accountId }) => accountId).sort();
    const first = await tasks.queue.claimDue(places, { ...limits, inHand: new Map() });
    expect(owners(first)).toEqual(['alice', 'alice', 'alice', 'bob', 'bob', 'bob']);
    await endLeases();
    const inHand = new Map([['alice', 4]]);
    const second = await tasks.queue.claimDue(places, { ...limits, limit: 3, inHand });
    expect(owners(second)).toEqual(['bob', 'bob', 'bob']);
    const third = await tasks.queue.claimDue(places, { ...limits, without: ['bob'], inHand });
    expect(owners(third)).toEqual(Array(6).fill('alice'));
    await endLeases();
    const together = await Promise.all(
      Array.from({ length: 4 }, () => tasks.queue.claimDue(places, { ...limits, inHand: new Map() })),
    );
    const ids = together.flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(await tasks.queue.claimDue(places, { ...limits, without: ['alice', 'bob'] })).toEqual([]);
  });

  it('hands out as many as each channel has places for, and strays and past deadlines on request', async () => {
    const channelId = 'other';
    for (let number = 0; number < 6; number += 1) await tasks.submitted(`up-${number}`);
    for (let number = 0; number < 4; number += 1) await tasks.submitted(`other-${number}`, { channelId });
    const limits = { limit: 5, leaseMs: LEASE_MS };
    const claimed = await tasks.queue.claimDue(
      new Map([
        ['sandbox', 2],
        [channelId, 1],
      ]),
      limits,
    );
    expect(claimed.map((task) => task.channelId).sort()).toEqual(['other', 'sandbox', 'sandbox']);
    expect(
      await tasks.queue.claimDue(
        new Map([
          ['sandbox', 9],
          [channelId, 9],
        ]),
        limits,
      ),
    ).toHaveLength(5);

    expect(await tasks.queue.claimStray(['sandbox', channelId], limits)).toEqual([]);
    expect(await tasks.queue.claimStray(['sandbox'], limits)).toMatchObject([{ channelId }, { channelId }]);

    const late = await tasks.submitted('late', { deadlineMs: 0 });
    await tasks.submitted('in time');
    const overdue = (graceMs: number) => tasks.queue.claimOverdue(['sandbox'], { ...limits, graceMs });
    expect(await overdue(60_000)).toEqual([]);
    expect(await overdue(0)).toMatchObject([{ id: late.id }]);
  });

  it('spreads the due tasks of a channel over a while', async () => {
    for (let number = 0; number < 20; number += 1) await tasks.submitted(`up-${number}`);
    const held = await claimOne();
    expect(await tasks.queue.spreadDue('sandbox', 3_600_000)).toBe(10);
    expect(await claim(50)).toEqual([]);
    const { rows } = await tasks.owner.query<{ times: number; longest: number }>(
      `SELECT count(DISTINCT next_poll_at)::int AS times, extract(epoch FROM max(next_poll_at) - now())::float8 AS longest
       FROM tasks`,
    );
    expect(rows[0]?.times).toBeGreaterThan(10);
    expect(rows[0]?.longest).toBeLessThanOrEqual(3_600);
    expect(await tasks.queue.reschedule(held, { inMs: 0 })).toBe(true);
  });

  it('returns many tasks together, and says of each whether its lease was kept', async () => {
    for (let number = 0; number < 30; number += 1) await tasks.submitted(`up-${number}`);
    const claimed = await claim(30);
    const lost = claimed.slice(0, 5);
    await tasks.owner.query('UPDATE tasks SET lease_token = gen_random_uuid() WHERE id = ANY ($1)', [
      lost.map(({ id }) => id),
    ]);
    const counted = await Promise.all(claimed.map((task) => tasks.queue.reschedule(task, { inMs: 0 })));
    expect(counted.map((kept, index) => kept === index >= 5)).toEqual(claimed.map(() => true));
    expect((await claim(50)).map(({ id }) => id).sort()).toEqual(
      claimed
        .slice(5)
        .map(({ id }) => id)
        .sort(),
    );
  });

  it('hands a task out again when its lease ends, and ignores its former holder', async () => {
    const { id } = await tasks.submitted('up');
    const former = await claimOne();
    expect(await tasks.queue.renewLease(former, LEASE_MS)).toBe(true);
    await endLeases();
    const holder = await claimOne();
    expect(holder).toMatchObject({ id, pollAttempts: 2 });
    expect(await tasks.queue.renewLease(former, LEASE_MS)).toBe(false);
    expect(await tasks.queue.reschedule(former, { inMs: 0 })).toBe(false);
    expect(await tasks.queue.complete(former, file)).toBe(false);
    expect(await tasks.queue.fail(former, failure, null)).toBe(false);
    expect(await tasks.announced(id)).toEqual([]);
    expect(await tasks.queue.complete(holder, file)).toBe(true);
  });

  it('completes a task once, with its file, its 25 minutes and one announcement', async () => {
    const { id, chargeId } = await tasks.submitted('up');
    const task = await claimOne();
    const won = await Promise.all(Array.from({ length: 5 }, () => tasks.queue.complete(task, file)));
    expect(won.filter(Boolean)).toHaveLength(1);
    const row = await tasks.row(id);
    expect(row).toMatchObject({
      state: 'completed',
      file_key: 'videos/x.mp4',
      file_bytes: 123n,
      progress: 100,
    });
    expect(Number(row['expires_at']) - Number(row['ended_at'])).toBe(1_500_000);
    const announced = await tasks.announced(id);
    expect(announced).toMatchObject([
      {
        producer: 'worker',
        topic: 'video.completed',
        key: 'alice',
        payload: { chargeId, outcome: 'completed', reason: null },
      },
    ]);
  });

  it('fails a task once, and stores why the operator may pay', async () => {
    const { id } = await tasks.submitted('up');
    const task = await claimOne();
    expect(await tasks.queue.fail(task, failure, 'no file')).toBe(true);
    expect(await tasks.queue.fail(task, failure, null)).toBe(false);
    expect(await tasks.row(id)).toMatchObject({
      state: 'failed',
      unbilled_cost: 'no file',
      lease_token: null,
    });
    expect(await tasks.announced(id)).toMatchObject([{ payload: { outcome: 'failed', reason: failure } }]);
  });

  it('never lets progress go back, and counts failed copies', async () => {
    const { id } = await tasks.submitted('up');
    await tasks.queue.reschedule(await claimOne(), { inMs: 0, progress: 70, copyFailed: true });
    await tasks.queue.reschedule(await claimOne(), { inMs: 0, progress: 40 });
    expect(await claimOne()).toMatchObject({ id, progress: 70, copyAttempts: 1 });
  });

  it('submits a task that turned out to be accepted, and makes the others wait for their deadline', async () => {
    const accepted = await tasks.submitting();
    await tasks.store.toUnknown(accepted.id, 0);
    const task = await claimOne();
    expect(task.pastDeadline).toBe(false);
    expect(await tasks.queue.complete(task, file)).toBe(false);
    expect(await tasks.queue.toSubmitted(task, { upstreamId: 'up', firstPollMs: 60_000 })).toBe(true);
    expect(await tasks.queue.toSubmitted(task, { upstreamId: 'other', firstPollMs: 0 })).toBe(false);

    const waiting = await tasks.submitting({ deadlineMs: 100_000 });
    await tasks.store.toUnknown(waiting.id, 0);
    expect(await tasks.queue.waitForDeadline(await claimOne())).toBe(true);
    const row = await tasks.row(waiting.id);
    expect(row['next_poll_at']).toEqual(row['deadline']);
  });

  it('leaves a task alone that its gateway submits after all', async () => {
    const { id } = await tasks.submitting();
    await tasks.store.toUnknown(id, 0);
    const task = await claimOne();
    expect(await tasks.store.toSubmitted(id, { upstreamId: 'up', firstPollMs: 0 })).toBe(true);
    expect(await tasks.queue.waitForDeadline(task)).toBe(false);
    expect(await tasks.queue.fail(task, failure, null)).toBe(false);
    expect(await tasks.announced(id)).toEqual([]);
    expect(await claimOne()).toMatchObject({ id, state: 'submitted', upstreamId: 'up' });
  });

  it('gives a create that was never answered less time than a running task', async () => {
    const hasty = new TaskQueue(tasks.worker, undefined, 50_000);
    const claim = async () =>
      (await hasty.claimDue(new Map([['sandbox', 1]]), { limit: 1, leaseMs: LEASE_MS }))[0]!;
    const lost = await tasks.submitting();
    await tasks.store.toUnknown(lost.id, 0);
    expect(await hasty.waitForDeadline(await claim())).toBe(true);
    const row = await tasks.row(lost.id);
    const waits = (row['next_poll_at'] as Date).getTime() - (row['submitting_at'] as Date).getTime();
    expect(waits).toBe(50_000);
    const age = `UPDATE tasks SET submitting_at = submitting_at - interval '1 minute', next_poll_at = now() WHERE id = $1`;
    await tasks.owner.query(age, [lost.id]);
    expect(await claim()).toMatchObject({ id: lost.id, pastDeadline: true });

    const running = await tasks.submitted('up');
    await tasks.owner.query(age, [running.id]);
    expect(await claim()).toMatchObject({ id: running.id, pastDeadline: false });
  });

  it('recognises a past deadline', async () => {
    await tasks.submitted('up', { deadlineMs: 0 });
    expect(await claimOne()).toMatchObject({ pastDeadline: true });
  });

  it('finds tasks whose gateway has gone away', async () => {
    const created = { ...(await tasks.created()), channelId: null, createdAtMs: Date.now() };
    const submitting = await tasks.submitting();
    expect(await tasks.queue.stuckCreated(60_000, 10)).toEqual([]);
    expect(await tasks.queue.giveUpSubmitting(60_000, 10)).toBe(0);
    expect((await tasks.queue.stuckCreated(0, 10)).map(({ id }) => id)).toEqual([created.id]);
    expect(await tasks.queue.failCreated(created, failure)).toBe(true);
    expect(await tasks.queue.failCreated(created, failure)).toBe(false);
    expect(await tasks.announced(created.id)).toMatchObject([
      { producer: 'worker', payload: { outcome: 'failed' } },
    ]);
    expect(await tasks.queue.giveUpSubmitting(0, 10)).toBe(1);
    expect(await tasks.queue.oldestDueSeconds()).toBeGreaterThan(0);
    expect(await claimOne()).toMatchObject({ id: submitting.id, state: 'unknown' });
    expect(await tasks.queue.oldestDueSeconds()).toBe(0);
  });
});
