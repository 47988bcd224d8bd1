import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { CallerLimits } from '#identity/key-authenticator.js';
import { TasksUnderTest } from './tasks.fixture.js';

describe('running tasks', () => {
  let tasks: TasksUnderTest;

  beforeAll(async () => {
    tasks = await TasksUnderTest.start();
  }, 60_000);
  afterAll(() => tasks.close());
  beforeEach(() => tasks.owner.query('DELETE FROM tasks'));

  const limits = (ofKey: number | null, ofGroup: number | null): CallerLimits => ({
    key: { requestsPerMinute: null, runningTasks: ofKey },
    group: { requestsPerMinute: null, runningTasks: ofGroup },
  });
  const refusal = { code: 'rate_limit_exceeded', status: 429, retryAfterSeconds: 5 };

  async function startTogether(count: number, overrides: Parameters<TasksUnderTest['created']>[0]) {
    const starts = Array.from({ length: count }, () => tasks.created(overrides));
    const ended = await Promise.allSettled(starts);
    for (const end of ended) if (end.status === 'rejected') expect(end.reason).toMatchObject(refusal);
    return ended.filter((end) => end.status === 'fulfilled').length;
  }

  it('start in exactly the number that a key may have, however many come at once', async () => {
    expect(await startTogether(12, { limits: limits(3, null) })).toBe(3);
    const { rows } = await tasks.owner.query('SELECT count(*)::integer AS saved FROM tasks');
    expect(rows).toEqual([{ saved: 3 }]);
  });

  it('are counted over all keys of a group, and by each key apart', async () => {
    const [alice, bob] = await Promise.all([
      startTogether(6, { accountId: 'alice', limits: limits(3, 4) }),
      startTogether(6, { accountId: 'bob', limits: limits(3, 4) }),
    ]);
    expect(alice + bob).toBe(4);
    expect(Math.max(alice, bob)).toBeLessThanOrEqual(3);
  });

  it('make room when one ends', async () => {
    const task = await tasks.created({ limits: limits(1, null) });
    await expect(tasks.created({ limits: limits(1, null) })).rejects.toMatchObject(refusal);
    await tasks.store.toRefused(task.id, { code: 'insufficient_user_quota', message: 'no' });
    await tasks.created({ limits: limits(1, null) });
  });

  it('are not counted where nothing limits them', async () => {
    expect(await startTogether(5, { limits: limits(null, null) })).toBe(5);
    expect(await startTogether(5, {})).toBe(5);
  });
});
