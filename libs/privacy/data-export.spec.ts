import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomBytes } from 'node:crypto';
import { openPool } from '#database/database.js';
import { newId } from '#platform/ids.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { unzip } from '../../test/support/zip.js';
import { DataExports } from './data-export.js';
import { sweepRetention } from './retention.js';

const MEGABYTE = 1024 * 1024;
const MINUTE = 60_000;
const NEVER = new AbortController().signal;

let fixture: LedgerFixture;

beforeAll(async () => {
  fixture = await createLedgerFixture();
});
afterAll(() => fixture?.close());

/** IDs of the exports that were given up. */
const failed: string[] = [];

const exportsOf = (maxBytes = 100 * MEGABYTE, pool = fixture.billing) =>
  new DataExports({ pool, lifeMs: MINUTE, maxBytes, onFailed: (exportId) => failed.push(exportId) });

/** As if a process had begun it and died. */
const abandon = (exportId: string) =>
  fixture.owner.query(
    `UPDATE data_exports SET state = 'running', lease_token = gen_random_uuid(), lease_until = now() - interval '1 second',
       attempts = attempts + 1 WHERE id = $1`,
    [exportId],
  );

/** A customer with tasks whose prompts cannot be compressed. */
async function customer(tasks: number, promptBytes = 3_000) {
  const { accountId, keyId } = await fixture.account({ credits: '1' });
  const userId = newId();
  await fixture.owner.query(
    `INSERT INTO users (id, account_id, email, password_hash) VALUES ($1, $2, $1 || '@example.com', 'none')`,
    [userId, accountId],
  );
  for (let index = 0; index < tasks; index += 1)
    await fixture.owner.query(
      `INSERT INTO tasks (id, kind, account_id, key_id, charge_id, dialect, state, model_id, requested_model, request, seconds,
         ended_at, deadline)
       VALUES ($1, 'video', $2, $3, $1, 'openai', 'failed', 'm', 'm', jsonb_build_object('prompt', $4::text), 5, now(), now())`,
      [newId(), accountId, keyId, randomBytes(promptBytes).toString('base64')],
    );
  return { accountId, userId, requestId: newId() };
}

async function archive(exports: DataExports, exportId: string, owner: Awaited<ReturnType<typeof customer>>) {
  const pieces: Buffer[] = [];
  for await (const piece of await exports.download(exportId, owner)) pieces.push(piece);
  return { pieces, files: unzip(Buffer.concat(pieces)) };
}

const rowsOf = async (exportId: string): Promise<number> => {
  const { rows } = await fixture.owner.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM data_export_pieces WHERE export_id = $1',
    [exportId],
  );
  return rows[0]!.count;
};

describe('an export', () => {
  it('comes in pieces, and reads long lists a page at a time', async () => {
    const [owner, exports] = [await customer(600), exportsOf()];
    const { id } = await exports.request(owner);
    while (await exports.round(NEVER));
    const { pieces, files } = await archive(exports, id, owner);
    expect(pieces.length).toBeGreaterThan(1);
    expect(files.get('tasks.jsonl')!.trim().split('\n')).toHaveLength(600);
    expect([...files.keys()]).toContain('README.txt');
  });

  it('is made again by another process if the first one died', async () => {
    const [owner, exports] = [await customer(3), exportsOf()];
    const { id } = await exports.request(owner);
    await abandon(id);
    await fixture.owner.query(
      `INSERT INTO data_export_pieces (export_id, ordinal, bytes) VALUES ($1, 0, 'broken'), ($1, 1, 'half')`,
      [id],
    );
    await Promise.all([exports.round(NEVER), exports.round(NEVER)]);
    const { files } = await archive(exports, id, owner);
    expect(files.get('tasks.jsonl')!.trim().split('\n')).toHaveLength(3);
  });

  it('is given up once three processes have died over it, and can be asked for again', async () => {
    const [owner, exports] = [await customer(1), exportsOf()];
    const { id } = await exports.request(owner);
    for (let died = 0; died < 3; died += 1) await abandon(id);
    await Promise.all([exports.round(NEVER), exports.round(NEVER)]);
    expect(await exports.list(owner.accountId)).toMatchObject([{ id, state: 'failed', failure: 'failed' }]);
    expect(failed.filter((each) => each === id)).toEqual([id]);
    const again = await exports.request(owner);
    for (let died = 0; died < 2; died += 1) await abandon(again.id);
    while (await exports.round(NEVER));
    expect((await archive(exports, again.id, owner)).files.get('tasks.jsonl')).toContain('"failed"');
  });

  it('is not given up for shutdowns, however many interrupt it', async () => {
    const [owner, exports] = [await customer(1), exportsOf()];
    const { id } = await exports.request(owner);
    for (let stopped = 0; stopped < 3; stopped += 1)
      await expect(exports.round(AbortSignal.abort())).rejects.toThrow(/abort/);
    while (await exports.round(NEVER));
    expect(await exports.list(owner.accountId)).toMatchObject([{ id, state: 'ready' }]);
  });

  it('stays whole if a process that stood still goes on after another one finished it', async () => {
    const [owner, exports] = [await customer(3), exportsOf()];
    const { id } = await exports.request(owner);
    const slow = openPool({ url: fixture.urlFor('billing'), max: 1, applicationName: 'slow' });
    try {
      const late = exportsOf(100 * MEGABYTE, slow).round(NEVER);
      // Gets the only connection when the claim is over.
      const connection = await slow.connect();
      await fixture.owner.query(
        `UPDATE data_exports SET lease_until = now() - interval '1 second' WHERE id = $1`,
        [id],
      );
      expect(await exports.round(NEVER)).toBe(true);
      connection.release();
      await expect(late).rejects.toThrow('another process');
    } finally {
      await slow.end();
    }
    const { files } = await archive(exports, id, owner);
    expect(files.get('tasks.jsonl')!.trim().split('\n')).toHaveLength(3);
  });

  it('fails at once if the database refuses to read something, and is made again', async () => {
    const [owner, exports] = [await customer(1), exportsOf()];
    const { id } = await exports.request(owner);
    await fixture.owner.query('ALTER TABLE tickets RENAME TO tickets_away');
    try {
      await expect(exports.round(NEVER)).rejects.toThrow('tickets');
    } finally {
      await fixture.owner.query('ALTER TABLE tickets_away RENAME TO tickets');
    }
    expect(await exports.list(owner.accountId)).toMatchObject([{ id, state: 'requested' }]);
    while (await exports.round(NEVER));
    expect((await archive(exports, id, owner)).files.get('tasks.jsonl')).toContain('"failed"');
  });

  it('is given up if it would be too large, and leaves nothing behind', async () => {
    const [owner, exports] = [await customer(600), exportsOf(MEGABYTE)];
    const { id } = await exports.request(owner);
    while (await exports.round(NEVER));
    expect(await exports.list(owner.accountId)).toEqual([
      expect.objectContaining({ id, state: 'failed', failure: 'too_large' }),
    ]);
    expect(await rowsOf(id)).toBe(0);
    await expect(exports.download(id, owner)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is downloaded at most a hundred times in a day, since each is logged', async () => {
    const [owner, exports] = [await customer(1), exportsOf()];
    const { id } = await exports.request(owner);
    while (await exports.round(NEVER));
    await archive(exports, id, owner);
    await fixture.owner.query('UPDATE attempts SET count = 100');
    await expect(exports.download(id, owner)).rejects.toMatchObject({
      code: 'too_many_attempts',
      message: expect.stringContaining('at most 100 downloads of archives in 24 hours'),
    });
  });

  it('is removed when its time is over', async () => {
    const [owner, exports] = [await customer(1), exportsOf()];
    const { id } = await exports.request(owner);
    while (await exports.round(NEVER));
    await sweepRetention(fixture.billing, 'exports', MINUTE);
    expect(await rowsOf(id)).toBeGreaterThan(0);
    await fixture.owner.query(`UPDATE data_exports SET ready_at = now() - interval '1 hour' WHERE id = $1`, [
      id,
    ]);
    await sweepRetention(fixture.billing, 'exports', MINUTE);
    expect(await exports.list(owner.accountId)).toEqual([]);
    expect(await rowsOf(id)).toBe(0);
  });
});
