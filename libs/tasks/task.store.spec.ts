import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nanos } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { TasksUnderTest } from './tasks.fixture.js';

let tasks: TasksUnderTest;

beforeAll(async () => {
  tasks = await TasksUnderTest.start();
});

afterAll(() => tasks.close());

const target = {
  channelId: 'sandbox',
  channelKey: 'mark-1',
  upstreamModel: 'up',
  heldAmount: nanos(250_000_000n),
  request: { prompt: 'a boat', audio: true },
};
const failure = { code: 'generation_failed' as const, message: 'It failed.' };

describe('tasks as the gateway writes them', () => {
  it('go from created to submitted, and are read back as they were saved', async () => {
    const task = await tasks.created({ deadlineMs: 60_000 });
    expect(await tasks.store.toSubmitting(task.id, target)).toBe(true);
    expect(await tasks.store.toSubmitted(task.id, { upstreamId: 'up-1', firstPollMs: 1_000 })).toBe(true);
    const found = await tasks.store.findForAccount('alice', task.id);
    const { deadlineMs, group: _group, limits: _limits, ...saved } = task;
    expect(found).toMatchObject({
      ...saved,
      state: 'submitted',
      request: target.request,
      heldAmount: 250_000_000n,
      channelId: 'sandbox',
      channelKey: 'mark-1',
      upstreamModel: 'up',
      upstreamId: 'up-1',
      progress: 0,
      fileKey: null,
      expiresAtMs: null,
    });
    expect((found?.deadlineMs ?? 0) - (found?.createdAtMs ?? 0)).toBe(deadlineMs);
  });

  it('give permission to call the upstream to one caller only', async () => {
    const task = await tasks.created();
    const won = await Promise.all(Array.from({ length: 8 }, () => tasks.store.toSubmitting(task.id, target)));
    expect(won.filter(Boolean)).toHaveLength(1);
  });

  it('switch to another channel only while the upstream is being called', async () => {
    const task = await tasks.submitting();
    expect(
      await tasks.store.retarget(task.id, {
        channelId: 'other',
        channelKey: 'mark-2',
        upstreamModel: 'other-up',
      }),
    ).toBe(true);
    expect(await tasks.row(task.id)).toMatchObject({
      channel_id: 'other',
      channel_key: 'mark-2',
      upstream_model: 'other-up',
    });
    await tasks.store.toSubmitted(task.id, { upstreamId: 'x', firstPollMs: 0 });
    expect(await tasks.store.retarget(task.id, target)).toBe(false);
  });

  it('are still submitted by a slow answer after a sweep has given up on the caller', async () => {
    const task = await tasks.submitting();
    expect(await tasks.store.toUnknown(task.id, 0)).toBe(true);
    expect(await tasks.store.toUnknown(task.id, 0)).toBe(false);
    expect(await tasks.store.toSubmitted(task.id, { upstreamId: 'up-2', firstPollMs: 0 })).toBe(true);
  });

  it('are polled now if their vendor announces an end, but not while a worker is handling them', async () => {
    const channelId = 'announcing';
    const task = await tasks.submitting({ channelId });
    const pollNow = (channel = channelId) => tasks.store.pollNow(channel, ['other', 'up-announced']);
    expect(await pollNow()).toBe(false);
    await tasks.store.toSubmitted(task.id, { upstreamId: 'up-announced', firstPollMs: 3_600_000 });
    expect(await pollNow('another')).toBe(false);
    const claim = () => tasks.queue.claimDue(new Map([[channelId, 1]]), { limit: 1, leaseMs: 3_600_000 });
    expect(await claim()).toEqual([]);
    expect(await pollNow()).toBe(true);
    expect(await pollNow()).toBe(false);
    const [leased] = await claim();
    expect(leased).toMatchObject({ id: task.id });
    expect(await pollNow()).toBe(false);
    expect(await tasks.queue.reschedule(leased!, { inMs: 3_600_000 })).toBe(true);
    expect(await pollNow()).toBe(true);
    const [again] = await claim();
    expect(await tasks.queue.fail(again!, { ...failure, upstreamStatus: null }, null)).toBe(true);
    expect(await pollNow()).toBe(false);
  });

  it('are refused without an announcement, and then neither found nor moved', async () => {
    const task = await tasks.created();
    const error = { code: 'insufficient_user_quota', message: 'Too little.' };
    expect(await tasks.store.toRefused(task.id, error)).toBe(true);
    expect(await tasks.store.findForAccount('alice', task.id)).toBeNull();
    expect(await tasks.store.toSubmitting(task.id, target)).toBe(false);
    expect(await tasks.announced(task.id)).toEqual([]);
    expect(await tasks.row(task.id)).toMatchObject({ request: { ...task.request, prompt: '' } });
  });

  it('are not saved if their requirement fails, and keep its locks until they are visible', async () => {
    const task = tasks.draft();
    const refusal = new Error('not now');
    const { store } = tasks;
    await expect(store.insertCreated(task, () => Promise.reject(refusal))).rejects.toBe(refusal);
    expect(await store.lastOfCharges([task.chargeId])).toBeNull();

    const other = await tasks.gateway.connect();
    let seen: Promise<unknown> = Promise.resolve();
    await store.insertCreated(task, async (client) => {
      await client.query('SELECT pg_advisory_xact_lock(1)');
      seen = other.query('SELECT pg_advisory_lock(1)').then(() => store.lastOfCharges([task.chargeId]));
    });
    expect(await seen).toMatchObject({ id: task.id });
    await other.query('SELECT pg_advisory_unlock(1)');
    other.release();
  });

  it('are found by the last charge of their request that has one, even if refused', async () => {
    const [first, second, third] = [newId(), newId(), newId()];
    const charges = [first, second, third];
    expect(await tasks.store.lastOfCharges(charges)).toBeNull();
    const one = await tasks.created({ chargeId: second });
    await tasks.created({ chargeId: first });
    expect(await tasks.store.lastOfCharges(charges)).toMatchObject({ id: one.id });
    await tasks.store.toRefused(one.id, { code: 'insufficient_user_quota', message: 'Too little.' });
    expect(await tasks.store.lastOfCharges(charges)).toMatchObject({ id: one.id, state: 'refused' });
  });

  it('fail once, with one announcement in the same statement', async () => {
    const task = { ...(await tasks.submitting()), channelId: 'sandbox', createdAtMs: Date.now() };
    const options = { from: ['submitting', 'unknown'] as const, unbilledCost: 'perhaps' };
    const won = await Promise.all(
      Array.from({ length: 8 }, () => tasks.store.toFailed(task, failure, options)),
    );
    expect(won.filter(Boolean)).toHaveLength(1);
    expect(await tasks.row(task.id)).toMatchObject({
      state: 'failed',
      error_code: 'generation_failed',
      unbilled_cost: 'perhaps',
    });
    expect(await tasks.announced(task.id)).toEqual([
      {
        producer: 'gateway',
        topic: 'video.completed',
        key: 'alice',
        payload: {
          taskId: task.id,
          chargeId: task.chargeId,
          accountId: 'alice',
          kind: 'video',
          outcome: 'failed',
          channel: 'sandbox',
          reason: failure,
          latencyMs: expect.any(Number) as unknown,
          endedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as unknown,
        },
      },
    ]);
  });

  it('do not fail from a state other than the caller expects, and announce nothing then', async () => {
    const task = { ...(await tasks.submitted('up-3')), channelId: 'sandbox', createdAtMs: Date.now() };
    expect(await tasks.store.toFailed(task, failure, { from: 'submitting' })).toBe(false);
    expect(await tasks.announced(task.id)).toEqual([]);
    expect(() => tasks.store.toFailed(task, failure, { from: 'completed' })).toThrow(RangeError);
  });

  it('are found only by their own account, also by the upstream’s ID if that is unique', async () => {
    const unique = newId();
    const doubled = newId();
    const task = await tasks.submitted(unique);
    await tasks.submitted(doubled);
    await tasks.submitted(doubled);
    await tasks.submitted(unique, { accountId: 'bob' });
    expect(await tasks.store.findForAccount('alice', unique)).toMatchObject({ id: task.id });
    expect(await tasks.store.findForAccount('bob', task.id)).toBeNull();
    expect(await tasks.store.findForAccount('alice', doubled)).toBeNull();
    expect(await tasks.store.findForAccount('alice', `${task.id}' OR 1=1`)).toBeNull();
    expect(await tasks.store.find(task.id)).toMatchObject({ id: task.id });
  });
});
