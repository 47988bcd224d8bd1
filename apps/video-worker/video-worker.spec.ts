import { once } from 'node:events';
import { readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startSandbox } from '#apps/sandbox-upstream/sandbox-server.js';
import { until } from '../../test/support/bus.js';
import { WorkerUnderTest } from './video-worker.fixture.js';

let under: WorkerUnderTest;

beforeEach(async () => {
  under = await WorkerUnderTest.start();
});

afterEach(() => under.close());

const fileOf = (task: { id: string }) => under.storage.stat(`videos/${task.id}.mp4`);

async function firstBytes(task: { id: string }): Promise<string> {
  const chunks: Buffer[] = [];
  const stream = await under.storage.open(`videos/${task.id}.mp4`, { start: 4, end: 7 });
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe('a video that the upstream finishes', () => {
  it('is stored, completed and announced, with 25 minutes to fetch it', async () => {
    const task = await under.accepted('a boat');
    await under.worker();
    expect(await under.endOf(task)).toMatchObject({
      chargeId: task.chargeId,
      accountId: 'alice',
      kind: 'video',
      outcome: 'completed',
      channel: 'sandbox',
    });
    const found = await under.tasks.store.findForAccount('alice', task.id);
    const file = await fileOf(task);
    expect(found).toMatchObject({
      state: 'completed',
      progress: 100,
      fileType: 'video/mp4',
      fileBytes: file?.bytes,
    });
    expect((found?.expiresAtMs ?? 0) - (found?.endedAtMs ?? 0)).toBe(1_500_000);
    expect(await firstBytes(task)).toBe('ftyp');
  });

  it.each(['done-word', 'unknown-status', 'poll-5xx'])('is found finished in spite of %s', async (fault) => {
    const task = await under.accepted(`a boat [[fault:${fault}]]`);
    await under.worker();
    expect(await under.endOf(task)).toMatchObject({ outcome: 'completed' });
  });

  it('is polled and fetched with the key that created it, wherever that is in the list now', async () => {
    const task = await under.accepted('a boat');
    await under.tasks.owner.query(
      `UPDATE channels SET api_key = 'another', further_api_keys = '{third,sandbox-key}' WHERE id = 'sandbox'`,
    );
    await under.worker();
    expect(await under.endOf(task)).toMatchObject({ outcome: 'completed' });
  });

  it('shows its progress meanwhile', async () => {
    const task = await under.accepted('a boat [[work:1]]');
    await under.worker();
    await until('progress is seen', async () => Number((await under.tasks.row(task.id))['progress']) > 0);
    expect(await under.endOf(task)).toMatchObject({ outcome: 'completed' });
  });

  it('is followed on its channel although that was disabled meanwhile', async () => {
    const task = await under.accepted('a boat');
    await under.tasks.owner.query('UPDATE channels SET enabled = false');
    await under.worker();
    expect(await under.endOf(task)).toMatchObject({ outcome: 'completed' });
  });

  it('is copied and announced once, by however many workers', async () => {
    const accepted = Array.from({ length: 24 }, (_, number) => under.accepted(`boat ${number % 3}`));
    const all = await Promise.all(accepted);
    await Promise.all([under.worker({ concurrency: 3 }), under.worker(), under.worker()]);
    for (const task of all) expect(await under.endOf(task)).toMatchObject({ outcome: 'completed' });
    expect(under.ended).toHaveLength(24);
    expect(await under.stats()).toMatchObject({ videosAccepted: 24, downloads: 24 });
    await until('the outbox is empty', async () => {
      return (await under.tasks.owner.query('SELECT FROM outbox')).rowCount === 0;
    });
  });

  it('waits for an upstream that is unreachable', async () => {
    const task = await under.accepted('a boat [[work:0.5]]');
    const { port } = under.sandbox;
    await under.sandbox.close();
    const worker = await under.worker();
    await until(
      'some polls failed',
      async () => (await worker.metric('tollgate_worker_polls_total', { outcome: 'no_answer' })) > 3,
    );
    expect(await under.tasks.row(task.id)).toMatchObject({ state: 'submitted' });
    // The new sandbox forgot the task: its 404 must not end it either.
    under.sandbox = await startSandbox({ port });
    const failed = await worker.metric('tollgate_worker_polls_total');
    await until(
      'more polls failed',
      async () => (await worker.metric('tollgate_worker_polls_total')) > failed + 3,
    );
    expect(await under.tasks.row(task.id)).toMatchObject({ state: 'submitted' });
  });
});

describe('a video that fails', () => {
  it('at the upstream is announced as failed, at no cost to anyone', async () => {
    const task = await under.accepted('a boat [[fault:fail-late]]');
    await under.worker();
    expect(await under.endOf(task)).toMatchObject({
      outcome: 'failed',
      reason: { code: 'generation_failed' },
    });
    expect(await under.tasks.row(task.id)).toMatchObject({ state: 'failed', unbilled_cost: null });
  });

  it.each(['truncated', 'bad-file'])(
    'because of its file (%s) is tried again, then given up with its cost recorded',
    async (fault) => {
      const task = await under.accepted(`a boat [[fault:${fault}]]`);
      const worker = await under.worker({ copyAttempts: 3 });
      expect(await under.endOf(task)).toMatchObject({ outcome: 'failed' });
      expect(await worker.metric('tollgate_worker_copies_total', { outcome: 'failed' })).toBe(3);
      expect((await under.tasks.row(task.id))['unbilled_cost']).toMatch(/could not be copied/);
      expect(await fileOf(task)).toBeNull();
    },
  );

  it('only to be stored, because our store is out, is completed once that is back', async () => {
    const task = await under.accepted('a boat');
    const inTheWay = join(under.storage.place, 'videos');
    writeFileSync(inTheWay, '');
    const worker = await under.worker({ copyAttempts: 1 });
    const failed = () => worker.metric('tollgate_worker_copies_total', { outcome: 'failed' });
    await until('it was tried again', async () => (await failed()) > 2);
    expect(await under.tasks.row(task.id)).toMatchObject({ state: 'submitted', copy_attempts: 0 });
    rmSync(inTheWay);
    expect(await under.endOf(task)).toMatchObject({ outcome: 'completed' });
  });

  it('only to be stored is tried more rarely the longer our store is out', async () => {
    const task = await under.accepted('a boat');
    writeFileSync(join(under.storage.place, 'videos'), '');
    await under.worker({ pollMaxMs: 20 });
    await until('the pause is much longer than between polls', async () => {
      const waits = `SELECT FROM tasks WHERE id = $1 AND lease_token IS NULL AND next_poll_at > now() + interval '300 ms'`;
      return (await under.tasks.owner.query(waits, [task.id])).rowCount === 1;
    });
  });

  it('to be stored by its deadline is given up, with its cost recorded', async () => {
    const task = await under.accepted('a boat');
    writeFileSync(join(under.storage.place, 'videos'), '');
    const worker = await under.worker();
    const failed = () => worker.metric('tollgate_worker_copies_total', { outcome: 'failed' });
    await until('it was tried', async () => (await failed()) > 0);
    await under.tasks.owner.query('UPDATE tasks SET deadline = now()');
    expect(await under.endOf(task)).toMatchObject({ outcome: 'failed' });
    expect(await under.tasks.row(task.id)).toMatchObject({
      error_message: 'The finished video could not be stored.',
      unbilled_cost: expect.stringContaining('could not be copied'),
    });
  });

  it('to end before its deadline is given up, with its cost recorded', async () => {
    const task = await under.accepted('a boat [[fault:never-finish]]', { deadlineMs: 400 });
    await under.worker();
    expect(await under.endOf(task)).toMatchObject({ outcome: 'failed' });
    expect((await under.tasks.row(task.id))['unbilled_cost']).toMatch(/accepted and did not end/);
  });

  it('is completed even if nobody polled it before its deadline', async () => {
    const task = await under.accepted('a boat', { deadlineMs: 1 });
    await until('it is done upstream', async () => {
      const { tasks } = (await (await fetch(`${under.sandbox.url}/_sandbox/tasks`)).json()) as {
        tasks: { phase: string }[];
      };
      return tasks[0]?.phase === 'completed';
    });
    await under.worker();
    expect(await under.endOf(task)).toMatchObject({ outcome: 'completed' });
  });
});

describe('a creation whose answer was lost', () => {
  it('is repeated with its key if that is safe: one task upstream, one end', async () => {
    const task = await under.submitting({
      request: { prompt: 'a boat [[fault:accept-then-timeout]]' },
    });
    expect(await under.callUpstream(task, 200)).toMatchObject({ kind: 'unknown' });
    await under.tasks.store.toUnknown(task.id, 0);
    await under.worker();
    expect(await under.endOf(task)).toMatchObject({ outcome: 'completed' });
    expect(await under.stats()).toMatchObject({ videoCreates: 2, videosAccepted: 1, videoRepeats: 1 });
  });

  it('is made for the first time if it never arrived', async () => {
    const task = await under.submitting();
    await under.tasks.store.toUnknown(task.id, 0);
    await under.worker();
    expect(await under.endOf(task)).toMatchObject({ outcome: 'completed' });
    expect(await under.stats()).toMatchObject({ videoCreates: 1, videosAccepted: 1 });
  });

  it('fails at once if its repeat is refused', async () => {
    const task = await under.submitting({ request: { prompt: 'a boat [[fault:moderation]]' } });
    await under.tasks.store.toUnknown(task.id, 0);
    await under.worker();
    expect(await under.endOf(task)).toMatchObject({
      outcome: 'failed',
      reason: { code: 'content_policy_violation' },
    });
    expect(await under.tasks.row(task.id)).toMatchObject({ unbilled_cost: null });
  });

  it.each([
    ['its channel ignores idempotency keys', 'UPDATE channels SET honours_idempotency = false'],
    ['its vendor knows none', `UPDATE channels SET protocol = 'fal', base_url = base_url || '/fal'`],
    ['it was created with a key that the channel no longer has', `UPDATE tasks SET channel_key = 'replaced'`],
  ])('is never repeated if it could be paid twice: %s', async (_, change) => {
    const task = await under.submitting({ deadlineMs: 500 });
    await under.tasks.owner.query(change);
    await under.tasks.store.toUnknown(task.id, 0);
    await under.worker();
    expect(await under.endOf(task)).toMatchObject({ outcome: 'failed' });
    expect((await under.tasks.row(task.id))['unbilled_cost']).toMatch(/may have accepted|never became clear/);
    expect(await under.stats()).toMatchObject({ videoCreates: 0 });
  });
});

it('cancels work at the vendor that nobody is waiting for, once the task has failed', async () => {
  const task = await under.accepted('a boat', { deadlineMs: 1 });
  const submitted = await fetch(`${under.sandbox.url}/fal/fal-ai/some-video`, {
    method: 'POST',
    headers: { authorization: 'Key sandbox-key', 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: 'a boat [[fault:never-finish]]' }),
  });
  const { request_id: id } = (await submitted.json()) as { request_id: string };
  const upstreamId = `fal-ai/some-video/requests/${id}`;
  await under.tasks.owner.query('UPDATE tasks SET upstream_id = $1 WHERE id = $2', [upstreamId, task.id]);
  await under.tasks.owner.query(`UPDATE channels SET protocol = 'fal', base_url = base_url || '/fal'`);
  await under.worker();
  expect(await under.endOf(task)).toMatchObject({ outcome: 'failed' });
  await until('the vendor was told', async () => (await under.stats())['jobsCancelled'] === 1);
});

describe('a task whose creation was never answered', () => {
  it.each([true, false])(
    'holds its credits for minutes rather than until its deadline, repeatable or not: %s',
    async (repeats) => {
      await under.tasks.owner.query('UPDATE channels SET honours_idempotency = $1', [repeats]);
      const task = await under.submitting();
      await under.tasks.store.toUnknown(task.id, 0);
      await under.tasks.owner.query(
        `UPDATE channels SET base_url = 'http://127.0.0.1:9' WHERE id = (SELECT channel_id FROM tasks WHERE id = $1)`,
        [task.id],
      );
      await under.worker({ unclearCreateMs: 200 });
      expect(await under.endOf(task)).toMatchObject({
        outcome: 'failed',
        reason: { code: 'generation_failed' },
      });
      expect((await under.tasks.row(task.id))['unbilled_cost']).toMatch(
        /may have accepted|never became clear/,
      );
    },
  );
});

describe('a task that its gateway left behind', () => {
  it('fails before the upstream was called, and is refunded', async () => {
    const task = await under.tasks.created();
    const worker = await under.worker({ stuckAfterMs: 0 });
    expect(await under.endOf(task)).toMatchObject({ outcome: 'failed', channel: null });
    expect(await worker.metric('tollgate_worker_tasks_swept_total', { state: 'created' })).toBe(1);
    // The other state exists before its first task: a metric that begins with a burst hides it from rates.
    expect(await worker.metric('tollgate_worker_tasks_swept_total', { state: 'submitting' })).toBe(0);
  });

  it('during the call becomes unknown, and is found again', async () => {
    const task = await under.submitting();
    await under.callUpstream(task);
    await under.worker({ stuckAfterMs: 0 });
    expect(await under.endOf(task)).toMatchObject({ outcome: 'completed' });
    expect(await under.stats()).toMatchObject({ videosAccepted: 1, videoRepeats: 1 });
  });

  it('is left alone while its gateway may still be there', async () => {
    const created = await under.tasks.created();
    const other = await under.accepted('a boat');
    await under.worker();
    await under.endOf(other);
    expect(await under.tasks.row(created.id)).toMatchObject({ state: 'created' });
  });
});

describe('a worker that goes away', () => {
  const slow = 'a boat [[fault:slow-bytes]]';
  const copying = () =>
    until('the copy has begun', async () => ((await under.stats())['downloads'] ?? 0) > 0);

  it('returns its copies when it is stopped, without using up their retries', async () => {
    const task = await under.accepted(slow);
    const first = await under.worker({ copyAttempts: 1 });
    await copying();
    await first.close();
    expect(await under.tasks.row(task.id)).toMatchObject({
      state: 'submitted',
      lease_token: null,
      copy_attempts: 0,
    });
    await under.worker({ copyAttempts: 1 });
    await until('another worker copies it', async () => ((await under.stats())['downloads'] ?? 0) > 1);
  });

  it('returns the tasks that it was polling, even past their deadline', async () => {
    const asked = Promise.withResolvers<void>();
    const silent = createServer(() => asked.resolve()).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const task = await under.accepted('a boat', { deadlineMs: 1 });
    await under.tasks.owner.query('UPDATE channels SET base_url = $1', [`http://127.0.0.1:${port}`]);
    const worker = await under.worker();
    await asked.promise;
    await worker.close();
    silent.closeAllConnections();
    silent.close();
    expect(await under.tasks.row(task.id)).toMatchObject({ state: 'submitted', lease_token: null });
    expect(under.ended).toEqual([]);
  });

  it('keeps the lease of a copy that takes longer than it', async () => {
    await under.close();
    under = await WorkerUnderTest.start({ slowSeconds: 14 });
    const task = await under.accepted(slow);
    // Six seconds without a turn are more than a busy machine takes.
    await Promise.all([under.worker({ leaseMs: 6_000 }), under.worker({ leaseMs: 6_000 })]);
    expect(await under.endOf(task)).toMatchObject({ outcome: 'completed' });
    expect(await under.stats()).toMatchObject({ downloads: 1 });
  });

  it('drops a copy whose lease went to another worker, and changes nothing', async () => {
    const task = await under.accepted(slow);
    const worker = await under.worker({ leaseMs: 300 });
    await copying();
    await under.tasks.owner.query(
      `UPDATE tasks SET lease_token = gen_random_uuid(), next_poll_at = now() + interval '1 hour'`,
    );
    await until('it has stopped', async () => (await worker.metric('tollgate_worker_tasks_following')) === 0);
    expect(await under.tasks.row(task.id)).toMatchObject({ state: 'submitted', copy_attempts: 0 });
    expect(under.ended).toEqual([]);
  });

  it.each([
    [
      'reports a copy that comes too late if the task failed',
      `state = 'failed', error_code = 'x', error_message = 'x', ended_at = now()`,
      1,
    ],
    ['reports no copy of a task that another worker has', `lease_token = gen_random_uuid()`, 0],
  ])('%s', async (_, change, reported) => {
    await under.close();
    under = await WorkerUnderTest.start({ slowSeconds: 2 });
    const task = await under.accepted(slow);
    const worker = await under.worker();
    await copying();
    await under.tasks.owner.query(
      `UPDATE tasks SET next_poll_at = now() + interval '1 hour', ${change} WHERE id = $1`,
      [task.id],
    );
    const following = 'tollgate_worker_tasks_following';
    await until('it has stopped', async () => (await worker.metric(following)) === 0);
    expect(await worker.metric('tollgate_worker_late_results_total')).toBe(reported);
  });
});

describe('expired files', () => {
  it('are removed and counted', async () => {
    const { storage } = under;
    const keys = ['videos/a.mp4', 'videos/b.mp4', 'images/c.png', 'answers/d.body'];
    for (const key of keys) await storage.write(key, Buffer.alloc(1), { maxBytes: 1 });
    for (const entry of readdirSync(storage.place, { recursive: true, withFileTypes: true })) {
      utimesSync(join(entry.parentPath, entry.name), new Date(0), new Date(0));
    }
    await storage.write('videos/new.mp4', Buffer.alloc(1), { maxBytes: 1 });
    const worker = await under.worker();
    const purged = (folder: string) => worker.metric('tollgate_files_purged_total', { folder });
    await until('the last folder was purged', async () => (await purged('answers')) === 1);
    expect([await purged('videos'), await purged('images')]).toEqual([2, 1]);
    expect(await Promise.all(keys.map((key) => storage.stat(key)))).toEqual([null, null, null, null]);
    expect(await storage.stat('videos/new.mp4')).toEqual({ bytes: 1 });
  });
});

describe('the program', () => {
  it('is ready with its database, bus and folder, and names what is missing', async () => {
    const worker = await under.worker();
    for (const check of Object.values(worker.checks)) await check();
    expect(Object.keys(worker.checks)).toEqual(['database', 'bus', 'storage']);
    expect(await worker.registry.metrics()).toMatch(/tollgate_worker_oldest_due_seconds 0/);
  });
});
