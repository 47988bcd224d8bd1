import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '#platform/ids.js';
import { TaskListing, type TaskPage } from './task-listing.store.js';
import { TasksUnderTest } from './tasks.fixture.js';

let tasks: TasksUnderTest;
let listing: TaskListing;

beforeAll(async () => {
  tasks = await TasksUnderTest.start();
  listing = new TaskListing(tasks.gateway);
});
afterAll(() => tasks.close());
beforeEach(() => tasks.owner.query('TRUNCATE tasks CASCADE').then(() => undefined));

async function ids(of: Partial<TaskPage> = {}, accountId = 'alice'): Promise<string[]> {
  const page = { kind: 'video', order: 'asc', after: undefined, limit: 10, ...of } as const;
  return (await listing.page(accountId, page)).map(({ id }) => id);
}

describe('a page of tasks', () => {
  it('continues after an ID, in either order', async () => {
    const made = [await tasks.created(), await tasks.created(), await tasks.created()].map(({ id }) => id);
    const [first, second, third] = made as [string, string, string];
    expect(await ids()).toEqual(made);
    expect(await ids({ order: 'desc', limit: 2 })).toEqual([third, second]);
    expect(await ids({ order: 'desc', limit: 2, after: second })).toEqual([first]);
    expect(await ids({ after: second })).toEqual([third]);
  });

  it('shows neither other people’s tasks, nor another type, nor refused or deleted ones', async () => {
    const { id } = await tasks.created();
    await tasks.created({ accountId: 'bob' });
    await tasks.created({ kind: '3d' });
    const [refused, deleted] = [await tasks.created(), await tasks.created()];
    await tasks.owner.query(`UPDATE tasks SET state = 'refused', ended_at = now() WHERE id = $1`, [
      refused.id,
    ]);
    await tasks.owner.query(
      `UPDATE tasks SET state = 'failed', ended_at = now(), deleted_at = now() WHERE id = $1`,
      [deleted.id],
    );
    expect(await ids()).toEqual([id]);
    expect(await ids({}, 'nobody')).toEqual([]);
  });
});

describe('removing a task from the list', () => {
  it('is for tasks that have ended', async () => {
    const { id } = await tasks.submitted(newId());
    expect(await listing.markDeleted(id)).toBe(false);
    expect(await ids()).toEqual([id]);
    expect(await listing.markDeleted('nothing')).toBe(false);
  });

  it('records the first time, and keeps the record', async () => {
    const { id } = await tasks.submitted(newId());
    await tasks.owner.query(`UPDATE tasks SET state = 'failed', ended_at = now() WHERE id = $1`, [id]);
    expect(await listing.markDeleted(id)).toBe(true);
    const { deleted_at: first } = await tasks.row(id);
    expect(await listing.markDeleted(id)).toBe(true);
    expect(await tasks.row(id)).toMatchObject({ deleted_at: first, state: 'failed' });
    expect(await ids()).toEqual([]);
  });
});
