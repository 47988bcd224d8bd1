import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ClientBase } from 'pg';
import { inTransaction } from '#database/database.js';
import type { CallerLimits } from '#identity/key-authenticator.js';
import { newId } from '#platform/ids.js';
import { until } from '../../test/support/eventually.js';
import { requireSlot } from './running-tasks.js';
import { TasksUnderTest } from './tasks.fixture.js';

describe('running tasks', () => {
  let tasks: TasksUnderTest;

  beforeAll(async () => {
    tasks = await TasksUnderTest.start();
  });
  afterAll(() => tasks.close());
  beforeEach(() => tasks.owner.query('DELETE FROM tasks'));

  const limits = (ofKey: number | null, ofGroup: number | null): CallerLimits => {
    const perMinute = { requestsPerMinute: null, tokensPerMinute: null, imagesPerMinute: null };
    const none = { ...perMinute, runningTasks: null, concurrentRequests: null };
    return {
      key: { ...none, runningTasks: ofKey },
      group: { ...none, runningTasks: ofGroup },
      account: none,
    };
  };
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

  it('wait for a start that is not committed yet, and count it', async () => {
    const limited = { limits: limits(2, null) };
    const { id, keyId, accountId, group } = await tasks.created(limited);
    const start = async (client: ClientBase) => {
      await client.query(
        `INSERT INTO tasks SELECT copy.* FROM tasks t,
           jsonb_populate_record(t, jsonb_build_object('id', $2::text, 'charge_id', $2::text)) AS copy WHERE t.id = $1`,
        [id, newId()],
      );
      await requireSlot(client, { keyId, accountId, group, ...limited });
    };
    let second: Promise<unknown> = Promise.resolve();
    await inTransaction(tasks.owner, async (client) => {
      await start(client);
      let isOver = false;
      second = inTransaction(tasks.owner, start)
        .catch((error: unknown) => error)
        .finally(() => (isOver = true));
      await until('the second start to wait', async () => {
        const sql = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`;
        return isOver || (await tasks.owner.query(sql)).rowCount === 1;
      });
    });
    expect(await second).toMatchObject(refusal);
  });

  it('are counted over all keys of an account in a group, and do not affect another account', async () => {
    await tasks.owner.query(
      `INSERT INTO api_keys (id, account_id, name, key_hash, group_name)
       VALUES ('second', 'alice', 'key', sha256('second'), 'Vendora-Main')`,
    );
    const [first, second, bob] = await Promise.all([
      startTogether(6, { accountId: 'alice', limits: limits(3, 4) }),
      startTogether(6, { accountId: 'alice', keyId: 'second', limits: limits(3, 4) }),
      startTogether(6, { accountId: 'bob', limits: limits(null, 4) }),
    ]);
    expect(first + second).toBe(4);
    expect(Math.max(first, second)).toBeLessThanOrEqual(3);
    expect(bob).toBe(4);
  });

  it('make room when one ends', async () => {
    const task = await tasks.created({ limits: limits(1, null) });
    await expect(tasks.created({ limits: limits(1, null) })).rejects.toMatchObject(refusal);
    await tasks.store.toRefused(task.id, { code: 'insufficient_user_quota', message: 'no' });
    await tasks.created({ limits: limits(1, null) });
  });

  it('are not counted if nothing limits them', async () => {
    expect(await startTogether(5, { limits: limits(null, null) })).toBe(5);
    expect(await startTogether(5, {})).toBe(5);
  });
});
