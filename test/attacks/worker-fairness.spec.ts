import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FaultyUpstream } from '#apps/video-worker/faulty-upstream.fixture.js';
import { WorkerUnderTest } from '#apps/video-worker/video-worker.fixture.js';
import { until } from '../support/bus.js';

const MANY = 300;

let under: WorkerUnderTest;

beforeEach(async () => {
  under = await WorkerUnderTest.start({ slowSeconds: 0.5 });
});
afterEach(() => under.close());

const accept = (accountId: string, count: number, prompt: string) =>
  Promise.all(Array.from({ length: count }, () => under.accepted(prompt, { accountId })));

/** The tasks of an account, as their upstream names them. */
async function namesOf(accountId: string): Promise<string[]> {
  const { rows } = await under.tasks.owner.query<{ name: string }>(
    'SELECT upstream_id AS name FROM tasks WHERE account_id = $1',
    [accountId],
  );
  return rows.map(({ name }) => name);
}

describe('a customer with a flood of tasks', () => {
  it('does not keep another’s videos from being polled', async () => {
    await accept('alice', MANY, 'a boat [[fault:never-finish]]');
    await accept('bob', 5, 'a boat [[fault:never-finish]]');
    const upstream = await FaultyUpstream.before(under.sandbox.url);
    try {
      await under.tasks.owner.query(`UPDATE channels SET base_url = $1 WHERE id = 'sandbox'`, [upstream.url]);
      const [flood, few] = [await namesOf('alice'), await namesOf('bob')];
      await under.worker({ concurrency: 4 });
      const firstPollOf = (name: string) => upstream.paths.findIndex((path) => path.includes(name));
      await until('all of the few are asked about', () => few.every((name) => firstPollOf(name) >= 0));
      const before = upstream.paths.slice(0, Math.max(...few.map(firstPollOf)));
      // In order of due time, all tasks of the flood would have been polled first.
      const preferred = flood.filter((name) => before.some((path) => path.includes(name)));
      expect(preferred.length).toBeLessThan(MANY / 2);
    } finally {
      await upstream.close();
    }
  });

  it('does not keep another’s files from being copied', async () => {
    await accept('alice', 20, 'a boat [[fault:slow-bytes]]');
    const few = await accept('bob', 2, 'a boat');
    await under.worker({ concurrency: 8, copyConcurrency: 1 });
    for (const task of few) expect(await under.endOf(task)).toMatchObject({ outcome: 'completed' });
    const copied = under.ended.flatMap(({ outcome, taskId }) => (outcome === 'completed' ? [taskId] : []));
    for (const { id } of few) expect(copied.indexOf(id)).toBeLessThan(8);
  });
});
