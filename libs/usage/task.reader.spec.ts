import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TasksUnderTest } from '#tasks/tasks.fixture.js';
import { findTask, listTasks, type TaskFilter } from './task.reader.js';

let tasks: TasksUnderTest;
/** Alice's tasks, the oldest first. */
let ids: Record<'created' | 'submitted' | 'progressed' | 'completed' | 'failed' | 'refused', string>;

beforeAll(async () => {
  tasks = await TasksUnderTest.start();
  const made = async (state: string, progress = 0) => {
    const { id } = await tasks.created({
      modelId: state === 'failed' ? 'vidmodel-3' : 'vendora-imagine-video',
    });
    await tasks.owner.query(
      `UPDATE tasks SET state = $2, progress = $3, file_key = CASE WHEN $2 = 'completed' THEN 'file' END,
         ended_at = CASE WHEN $2 IN ('completed', 'failed', 'refused') THEN now() END WHERE id = $1`,
      [id, state, progress],
    );
    return id;
  };
  ids = {
    created: await made('created'),
    submitted: await made('submitted'),
    progressed: await made('submitted', 40),
    completed: await made('completed', 100),
    failed: await made('failed'),
    refused: await made('refused'),
  };
  await tasks.created({ accountId: 'bob' });
});
afterAll(() => tasks.close());

/** All pages. */
async function list(filter: TaskFilter, limit = 50): Promise<string[]> {
  const found: string[] = [];
  for (let after: string | null = null; ;) {
    const page = await listTasks(tasks.owner, { accountId: 'alice', filter }, { limit, after });
    found.push(...page.items.map(({ id }) => id));
    if (page.next === null) return found;
    after = page.next;
  }
}

describe('the tasks of an account', () => {
  it('are its own, newest first, in pages of any size, without refused ones', async () => {
    const { created, submitted, progressed, completed, failed } = ids;
    const all = [failed, completed, progressed, submitted, created];
    expect(await list({})).toEqual(all);
    expect(await list({}, 1)).toEqual(all);
  });

  it.each([
    ['running', ['progressed', 'submitted', 'created']],
    ['queued', ['submitted', 'created']],
    ['in_progress', ['progressed']],
    ['completed', ['completed']],
    ['failed', ['failed']],
  ] as const)('that are %s are found in pages of any size', async (state, names) => {
    const meant = names.map((name) => ids[name]);
    expect(await list({ state })).toEqual(meant);
    expect(await list({ state }, 1)).toEqual(meant);
  });

  it('are filtered by model, key and time', async () => {
    expect(await list({ model: 'vidmodel-3' })).toEqual([ids.failed]);
    expect(await list({ keyId: 'key-bob' })).toEqual([]);
    const { rows } = await tasks.owner.query<{ at: Date }>(
      'SELECT created_at AS at FROM tasks WHERE id = $1',
      [ids.completed],
    );
    const { at } = rows[0]!;
    const [before, since] = [await list({ to: at }), await list({ from: at })];
    expect(before).not.toContain(ids.completed);
    expect([...since, ...before]).toEqual(await list({}));
  });
});

describe('a task', () => {
  it('is found by its account, with what its charge came to', async () => {
    expect(await findTask(tasks.owner, 'alice', ids.completed)).toMatchObject({
      id: ids.completed,
      state: 'completed',
      settled: null,
      released: null,
    });
  });

  it('is not found if it is another account’s, refused, or does not exist', async () => {
    expect(await findTask(tasks.owner, 'bob', ids.completed)).toBeNull();
    expect(await findTask(tasks.owner, 'alice', ids.refused)).toBeNull();
    expect(await findTask(tasks.owner, 'alice', 'none')).toBeNull();
  });
});
