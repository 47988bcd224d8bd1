import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FaultyUpstream } from '#apps/video-worker/faulty-upstream.fixture.js';
import { WorkerUnderTest } from '#apps/video-worker/video-worker.fixture.js';
import { until } from '../support/eventually.js';

const MANY = 300;

let under: WorkerUnderTest;

beforeEach(async () => {
  under = await WorkerUnderTest.start({ slowSeconds: 0.5 });
});
afterEach(() => under.close());

const accept = (accountId: string, count: number, prompt: string) =>
  Promise.all(Array.from({ length: count }, () => under.accepted(prompt, { accountId })));

/** How many tasks of each account have not been taken by any worker yet, at one moment. */
async function neverAsked(): Promise<{ alice: number; bob: number }> {
  const { rows } = await under.tasks.owner.query<{ alice: number; bob: number }>(
    `SELECT count(*) FILTER (WHERE account_id = 'alice')::integer AS alice,
       count(*) FILTER (WHERE account_id = 'bob')::integer AS bob
     FROM tasks WHERE poll_attempts = 0`,
  );
  return rows[0]!;
}

describe('a customer with a flood of tasks', () => {
  it('does not keep another’s videos from being polled', async () => {
    await accept('alice', MANY, 'a boat [[fault:never-finish]]');
    await accept('bob', 5, 'a boat [[fault:never-finish]]');
    const upstream = await FaultyUpstream.before(under.sandbox.url);
    try {
      await under.tasks.owner.query(`UPDATE channels SET base_url = $1 WHERE id = 'sandbox'`, [upstream.url]);
      upstream.delayMs = 100;
      await under.worker({ concurrency: 4 });
      const waiting = await until('all of the few to have been asked about', async () => {
        const { alice, bob } = await neverAsked();
        return bob === 0 && { alice };
      });
      // In order of due time, all tasks of the flood would have been polled first.
      expect(waiting.alice).toBeGreaterThan(MANY / 2);
    } finally {
      await upstream.close();
    }
  });

  it('does not keep another’s files from being copied', async () => {
    await accept('alice', 20, 'a boat [[fault:slow-bytes]]');
    const few = await accept('bob', 2, 'a boat');
    await under.worker({ concurrency: 8, copyConcurrency: 1 });
    for (const task of few) expect(await under.endOf(task)).toMatchObject({ outcome: 'completed' });
    expect(under.ended.filter(({ outcome }) => outcome === 'completed').length).toBeLessThanOrEqual(8);
  });
});
