import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type pg from 'pg';
import { openPool } from '#database/database.js';
import { ConfigReader } from '#platform/config.js';
import { firstIdAt, newId } from '#platform/ids.js';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { readRetention, readRetentionTimes, RETENTION_BATCH, sweepRetention } from './retention.js';

const DAY_MS = 86_400_000;

let database: TestDatabase;
let owner: pg.Pool;
let billing: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  owner = openPool({ url: database.ownerUrl, max: 4, applicationName: 'spec-owner' });
  billing = openPool({ url: database.urlFor('billing'), max: 4, applicationName: 'spec-billing' });
  await owner.query(`INSERT INTO accounts (id, name) VALUES ('alice', 'Alice')`);
  await owner.query(`INSERT INTO groups (name) VALUES ('Some')`);
  await owner.query(
    `INSERT INTO api_keys (id, account_id, name, key_hash, group_name)
     VALUES ('key', 'alice', 'key', sha256('key'), 'Some')`,
  );
});
afterAll(async () => {
  await Promise.all([owner.end(), billing.end()]);
  await database.drop();
});

/** A task that ended this many days ago, or is running. */
async function task(endedDaysAgo: number | null): Promise<string> {
  const id = newId();
  await owner.query(
    `INSERT INTO tasks (id, kind, account_id, key_id, charge_id, dialect, state, model_id, requested_model, request, seconds,
       error_message, ended_at, deadline)
     VALUES ($1, 'video', 'alice', 'key', $1, 'openai', CASE WHEN $2::float8 IS NULL THEN 'created' ELSE 'failed' END, 'm',
       'm', '{"prompt": "a secret boat", "size": "720p"}', 5, 'the boat was refused', now() - $2::float8 * interval '1 day', now())`,
    [id, endedDaysAgo],
  );
  return id;
}

describe('the schedule', () => {
  it('has a default for each class, and is read in days and seconds', () => {
    const reader = new ConfigReader({ RETENTION_PROMPTS_DAYS: '0.5', IMAGE_URL_LIFE_SECONDS: '60' });
    const times = reader.finish(readRetentionTimes(reader));
    expect(times).toMatchObject({ prompts: DAY_MS / 2, images: 60_000, mails: 30 * DAY_MS });
    const wrong = new ConfigReader({ RETENTION_PROMPTS_DAYS: 'a month' });
    expect(() => wrong.finish(readRetentionTimes(wrong))).toThrow('RETENTION_PROMPTS_DAYS must be days');
    const short = new ConfigReader({ RETENTION_REFUSED_REQUESTS_DAYS: '1' });
    expect(() => short.finish(readRetentionTimes(short))).toThrow('must be days, such as 30, and at least 2');
  });

  it('removes the prompts of tasks that ended long enough ago, and leaves the rest of what they show', async () => {
    const [old, young, running] = [await task(31), await task(29), await task(null)];
    expect(await sweepRetention(billing, 'prompts', 30 * DAY_MS)).toEqual({ removed: 1, more: false });
    const { rows } = await owner.query('SELECT id, request, error_message AS message FROM tasks ORDER BY id');
    const kept = { request: { prompt: 'a secret boat', size: '720p' }, message: 'the boat was refused' };
    expect(rows).toEqual([
      { id: old, request: { prompt: '', size: '720p' }, message: 'The message is no longer kept.' },
      { id: young, ...kept },
      { id: running, ...kept },
    ]);
    expect(await sweepRetention(billing, 'prompts', 30 * DAY_MS)).toMatchObject({ removed: 0 });
  });

  it('walks request IDs once, a batch at a time, held charges included', async () => {
    const before = firstIdAt(Date.now() - 2 * DAY_MS).slice(0, 10);
    await owner.query(
      `INSERT INTO charges (id, account_id, state, request_id, resolved_at, settled, released)
       SELECT $1 || lpad(n::text, 16, '0'), 'alice', CASE n WHEN 7 THEN 'held' ELSE 'settled' END, 'chosen-' || n,
         CASE n WHEN 7 THEN NULL ELSE now() END, 0, 0 FROM generate_series(1, ${RETENTION_BATCH + 5}) AS n`,
      [before],
    );
    await owner.query(
      `INSERT INTO charges (id, account_id, state, request_id, resolved_at, settled, released)
       VALUES ($1, 'alice', 'settled', 'of today', now(), 0, 0)`,
      [newId()],
    );
    expect(await sweepRetention(billing, 'requestIds', DAY_MS)).toEqual({
      removed: RETENTION_BATCH,
      more: true,
    });
    expect(await sweepRetention(billing, 'requestIds', DAY_MS)).toEqual({ removed: 5, more: false });
    expect(await sweepRetention(billing, 'requestIds', DAY_MS)).toEqual({ removed: 0, more: false });
    const { rows } = await owner.query(
      'SELECT request_id AS id FROM charges WHERE request_id IS NOT NULL ORDER BY 1',
    );
    expect(rows).toEqual([{ id: 'of today' }]);
  });

  describe('of refused requests', () => {
    /** A charge of this many days ago, with a task if `task` is its state. */
    async function charge(state: string, daysAgo: number, taskState: string | null = null): Promise<string> {
      const id = firstIdAt(Date.now() - daysAgo * DAY_MS).slice(0, 10) + newId().slice(10);
      const isRefused = state === 'refused';
      await owner.query(
        `INSERT INTO charges (id, account_id, state, refusal_code, resolved_at, settled, released, created_at)
         VALUES ($1, 'alice', $2, $3, $4, $5, $5, now() - $6::float8 * interval '1 day')`,
        [
          id,
          state,
          isRefused ? 'insufficient_user_quota' : null,
          isRefused ? null : new Date(),
          isRefused ? null : 0,
          daysAgo,
        ],
      );
      if (taskState !== null)
        await owner.query(
          `INSERT INTO tasks (id, kind, account_id, key_id, charge_id, dialect, state, model_id, requested_model, request, seconds,
             ended_at, deadline) VALUES ($1, 'video', 'alice', 'key', $1, 'openai', $2, 'm', 'm', '{}', 5, now(), now())`,
          [id, taskState],
        );
      return id;
    }

    it('removes them with their tasks, and nothing that is or was held or that a kept task needs', async () => {
      await owner.query('DELETE FROM charges');
      await charge('refused', 91);
      await charge('refused', 91, 'refused');
      const kept = [
        await charge('settled', 91),
        await charge('refused', 91, 'failed'),
        await charge('refused', 89),
        await charge('refused', 89, 'refused'),
      ];
      expect(await sweepRetention(billing, 'refusedRequests', 90 * DAY_MS)).toEqual({
        removed: 2,
        more: false,
      });
      expect(await sweepRetention(billing, 'refusedRequests', 90 * DAY_MS)).toEqual({
        removed: 0,
        more: false,
      });
      const { rows } = await owner.query<{ id: string }>('SELECT id FROM charges');
      expect(rows.map(({ id }) => id).toSorted()).toEqual(kept.toSorted());
      const tasks = await owner.query<{ id: string }>(`SELECT id FROM tasks WHERE state = 'refused'`);
      expect(tasks.rows).toEqual([{ id: kept[3] }]);
    });

    it('keeps those of the last day, which may be delivered again', async () => {
      await owner.query('DELETE FROM charges');
      const [young, old] = [await charge('refused', 0.9), await charge('refused', 1.1)];
      await owner.query(`UPDATE retention_runs SET cursor = NULL WHERE class = 'refusedRequests'`);
      expect(await sweepRetention(billing, 'refusedRequests', 0)).toMatchObject({ removed: 1 });
      const { rows } = await owner.query<{ id: string }>('SELECT id FROM charges');
      expect(rows, old).toEqual([{ id: young }]);
    });

    it('walks a long list a batch at a time, and no program deletes a charge in another way', async () => {
      await owner.query('DELETE FROM charges');
      await owner.query(`UPDATE retention_runs SET cursor = NULL WHERE class = 'refusedRequests'`);
      await owner.query(
        `INSERT INTO charges (id, account_id, state, refusal_code, created_at)
         SELECT $1 || lpad(n::text, 16, '0'), 'alice', 'refused', 'insufficient_user_quota', now() - interval '91 days'
         FROM generate_series(1, ${RETENTION_BATCH + 5}) AS n`,
        [firstIdAt(Date.now() - 91 * DAY_MS).slice(0, 10)],
      );
      const sweep = () => sweepRetention(billing, 'refusedRequests', 90 * DAY_MS);
      expect(await sweep()).toEqual({ removed: RETENTION_BATCH, more: true });
      expect(await sweep()).toEqual({ removed: 5, more: false });
      await expect(billing.query('DELETE FROM charges')).rejects.toThrow('permission denied');
    });
  });

  it('is swept by one process at a time, and says what it did', async () => {
    const client = await owner.connect();
    await client.query('BEGIN');
    await client.query(`SELECT FROM retention_runs WHERE class = 'prompts' FOR UPDATE`);
    await task(31);
    expect(await sweepRetention(billing, 'prompts', 30 * DAY_MS)).toEqual({ removed: 0, more: false });
    await client.query('COMMIT');
    client.release();
    expect(await sweepRetention(billing, 'prompts', 30 * DAY_MS)).toMatchObject({ removed: 1 });
    expect(await readRetention(billing)).toContainEqual({
      class: 'prompts',
      keptSeconds: 30 * 86_400,
      removedTotal: '2',
      lastRunAt: expect.any(Date),
    });
  });

  it('removes mail, sessions and webhook deliveries by when they ended', async () => {
    await owner.query(
      `INSERT INTO mail_outbox (template, recipient, ended_at) VALUES ('sign_up', 'old@example.com', now() - interval '31 days'),
         ('sign_up', 'new@example.com', now()), ('sign_up', 'waiting@example.com', NULL)`,
    );
    expect(await sweepRetention(billing, 'mails', 30 * DAY_MS)).toEqual({ removed: 1, more: false });
    for (const name of ['sessions', 'webhookDeliveries', 'answers'] as const)
      expect(await sweepRetention(billing, name, DAY_MS)).toEqual({ removed: 0, more: false });
    const { rows } = await owner.query('SELECT recipient FROM mail_outbox ORDER BY 1');
    expect(rows).toEqual([{ recipient: 'new@example.com' }, { recipient: 'waiting@example.com' }]);
  });
});
