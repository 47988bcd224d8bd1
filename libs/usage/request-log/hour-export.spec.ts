import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type pg from 'pg';
import { openPool } from '#database/database.js';
import { underLock } from '#database/locks.js';
import { newId } from '#platform/ids.js';
import { FolderStore } from '#storage/folder.store.js';
import { S3Server } from '#storage/s3-server.fixture.js';
import { S3Store } from '#storage/s3.store.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { exportedThrough, type ExportedHour, exportNextHour } from './hour-export.js';
import { linesOfHour } from './hour-lines.js';

let ledger: LedgerFixture;
let folder: string;
let store: FolderStore;

beforeAll(async () => {
  ledger = await createLedgerFixture();
});
afterAll(() => ledger?.close());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'request-log-'));
  store = new FolderStore(folder);
  await ledger.owner.query('DELETE FROM charges; DELETE FROM exported_hours; DELETE FROM ledger_horizons');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const HOUR = '2026-01-05T13:00:00.000Z';
const KEY = 'requests/2026/01/05/13.ndjson.gz';

/** Charges that ended at a time, a second after they were made. */
async function ended(id: string, at: string, client: Pick<LedgerFixture['owner'], 'query'> = ledger.owner) {
  await client.query(
    `INSERT INTO charges (id, account_id, key_id, request_id, model_id, family, state, amount, settled, released, channel_id,
       upstream_status, latency_ms, created_at, resolved_at)
     VALUES ($1, 'account', 'key', 'request', 'imgmodel-4', 'image', 'settled', 60000000, 30000000, 30000000, 'sandbox', 200,
       900, $2::timestamptz - interval '1 second', $2)`,
    [id, at],
  );
}

async function refused(id: string, at: string) {
  await ledger.owner.query(
    `INSERT INTO charges (id, account_id, key_id, state, refusal_code, created_at)
     VALUES ($1, 'account', 'key', 'refused', 'insufficient_credits', $2)`,
    [id, at],
  );
}

/** As if everything before an hour had been exported. */
async function exportedBefore(hour: string) {
  await ledger.owner.query(
    `INSERT INTO exported_hours (hour, lines, bytes, sha256) VALUES ($1::timestamptz - interval '1 hour', 0, 20, $2)`,
    [hour, '0'.repeat(64)],
  );
}

const exportNext = () => exportNextHour({ pool: ledger.billing, store });

/** The bytes of an object, as a folder has it. */
const bytesOf = (key: string) => readFile(join(folder, key));

async function linesOf(key = KEY): Promise<{ chargeId: string }[]> {
  const text = gunzipSync(await bytesOf(key)).toString();
  return text === ''
    ? []
    : text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { chargeId: string });
}

const idsOf = (lines: { chargeId: string }[]) => lines.map(({ chargeId }) => chargeId);

describe('the export of an hour', () => {
  it('has a line for each request that ended in it or was refused in it, in the order of their ends', async () => {
    await ended('before', '2026-01-05T12:59:59.999999Z');
    await ended('last', '2026-01-05T13:59:59.999999Z');
    await ended('first', HOUR);
    await refused('refused', '2026-01-05T13:30:00Z');
    await ended('behind', '2026-01-05T14:00:00Z');
    await refused('refused before', '2026-01-05T12:59:59Z');
    await ledger.owner.query(
      `INSERT INTO charges (id, account_id, state, created_at) VALUES ('open', 'account', 'held', $1)`,
      [HOUR],
    );
    await exportedBefore(HOUR);
    expect(await exportNext()).toMatchObject({ key: KEY, lines: 3 });
    const lines = await linesOf();
    expect(idsOf(lines)).toEqual(['first', 'refused', 'last']);
    expect(lines[0]).toEqual({
      chargeId: 'first',
      requestId: 'request',
      accountId: 'account',
      keyId: 'key',
      at: '2026-01-05T12:59:59.000Z',
      endedAt: HOUR,
      requestedModel: null,
      model: 'imgmodel-4',
      family: 'image',
      group: null,
      state: 'settled',
      units: null,
      deliveredUnits: null,
      held: '0.06',
      settled: '0.03',
      released: '0.03',
      operatorLoss: '0',
      refusalCode: null,
      reason: null,
      channel: 'sandbox',
      upstreamStatus: 200,
      latencyMs: 900,
      taskId: null,
    });
    expect(lines[1]).toMatchObject({
      state: 'refused',
      refusalCode: 'insufficient_credits',
      endedAt: '2026-01-05T13:30:00.000Z',
      held: '0',
      settled: null,
    });
  });

  it('is followed by that of the next hour, of which nothing may have ended', async () => {
    await ended('late', '2026-01-05T15:00:00Z');
    await exportedBefore(HOUR);
    const keys = [(await exportNext())?.key, (await exportNext())?.key, (await exportNext())?.key];
    expect(keys).toEqual([13, 14, 15].map((hour) => `requests/2026/01/05/${hour}.ndjson.gz`));
    expect(await linesOf(keys[1])).toEqual([]);
    expect(idsOf(await linesOf(keys[2]))).toEqual(['late']);
    expect(await exportedThrough(ledger.billing)).toEqual(new Date('2026-01-05T16:00:00Z'));
  });

  it('is the same object again where the process was killed before its row, and the row says what is there', async () => {
    for (let index = 0; index < 5; index += 1) await ended(newId(), `2026-01-05T13:10:0${index}Z`);
    await exportedBefore(HOUR);
    const first = await exportNext();
    const bytes = await bytesOf(KEY);
    await ledger.owner.query('DELETE FROM exported_hours WHERE hour = $1', [HOUR]);
    expect(await exportNext()).toEqual(first);
    expect(await bytesOf(KEY)).toEqual(bytes);
    const { rows } = await ledger.billing.query('SELECT * FROM exported_hours WHERE hour = $1', [HOUR]);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(rows).toEqual([expect.objectContaining({ lines: 5n, bytes: BigInt(bytes.length), sha256 })]);
  });

  it('is done by one process at a time', async () => {
    await exportedBefore(HOUR);
    const meanwhile = await underLock(ledger.billing, 'requestLog', exportNext);
    expect(meanwhile).toEqual({ result: null });
    expect(await exportedThrough(ledger.billing)).toEqual(new Date(HOUR));
    expect(await exportNext()).toMatchObject({ key: KEY });
  });

  it('leaves no row, and is tried again, where the store fails', async () => {
    await exportedBefore(HOUR);
    await writeFile(join(folder, 'requests'), 'no folder');
    await expect(exportNext()).rejects.toThrow(/ENOTDIR|EEXIST/);
    expect(await exportedThrough(ledger.billing)).toEqual(new Date(HOUR));
    await rm(join(folder, 'requests'));
    expect(await exportNext()).toMatchObject({ key: KEY });
  });

  it('is given up, without an object, where its program stops', async () => {
    await ended('one', HOUR);
    await exportedBefore(HOUR);
    const signal = AbortSignal.abort();
    await expect(exportNextHour({ pool: ledger.billing, store, signal })).rejects.toThrow('aborted');
    expect(await store.stat(KEY)).toBeNull();
    expect(await exportedThrough(ledger.billing)).toEqual(new Date(HOUR));
  });

  it('goes to a bucket as well', async () => {
    const server = await S3Server.start('requests', 'key-id');
    const { url: endpoint } = server;
    const login = { accessKeyId: 'key-id', secretAccessKey: 'a-secret', forcePathStyle: true };
    const bucket = new S3Store({ endpoint, bucket: 'requests', region: 'eu-central-1', ...login });
    try {
      await ended('one', HOUR);
      await exportedBefore(HOUR);
      const exported = await exportNextHour({ pool: ledger.billing, store: bucket });
      const object = server.objects.get(KEY)!.bytes;
      expect(exported).toMatchObject({ bytes: object.length });
      expect(gunzipSync(object).toString()).toMatch(/^\{"chargeId":"one",.*\}\n$/);
    } finally {
      await server.close();
    }
  });
});

describe('an hour', () => {
  it('is at first the last one that is over', async () => {
    const { rows } = await ledger.owner.query<{ now: Date }>('SELECT now()');
    const exported = await exportNext();
    // An hour may have ended between the two.
    const begun = Math.floor((rows[0]!.now.getTime() - 3_600_000) / 3_600_000) * 3_600_000;
    expect([begun, begun + 3_600_000]).toContain(exported?.hour.getTime());
  });

  it('is not exported before it is over', async () => {
    await ledger.owner.query(
      `INSERT INTO exported_hours (hour, lines, bytes, sha256) VALUES (date_trunc('hour', now()), 0, 20, $1)`,
      ['0'.repeat(64)],
    );
    expect(await exportNext()).toBeNull();
  });

  it('waits for what ended in it and commits later', async () => {
    await exportedBefore(HOUR);
    const late = await ledger.owner.connect();
    try {
      await late.query('BEGIN');
      await ended('late', '2026-01-05T13:59:00Z', late);
      expect(await exportNext()).toBeNull();
      expect(await store.stat(KEY)).toBeNull();
      await late.query('COMMIT');
    } finally {
      await late.query('ROLLBACK');
      late.release();
    }
    expect(await exportNext()).toMatchObject({ lines: 1 });
    expect(idsOf(await linesOf())).toEqual(['late']);
  });
});

describe('the lines of an hour', () => {
  async function read(page: number): Promise<string[]> {
    const ids: string[] = [];
    for await (const { text, count } of linesOfHour(ledger.billing, new Date(HOUR), page)) {
      const lines = text.trimEnd().split('\n');
      expect(lines).toHaveLength(count);
      expect(count).toBeLessThanOrEqual(page);
      ids.push(...lines.map((line) => (JSON.parse(line) as ExportedHour & { chargeId: string }).chargeId));
    }
    return ids;
  }

  it('are the same in pages of any length, with many at one moment', async () => {
    await ledger.owner.query(
      `INSERT INTO charges (id, account_id, state, amount, settled, released, created_at, resolved_at)
       SELECT 'charge-' || n, 'account', 'settled', 1, 1, 0, $1,
         $1::timestamptz + CASE WHEN n < 40 THEN interval '7 minutes' ELSE n * interval '1.000001 s' END
       FROM generate_series(1, 200) AS n`,
      [HOUR],
    );
    const whole = await read(1_000);
    expect(new Set(whole).size).toBe(200);
    for (const page of [1, 7, 39, 200]) expect(await read(page)).toEqual(whole);
  });

  it.each([
    { held: 'many hours', seconds: '3.6', page: 200, times: 1 },
    { held: 'a busy hour', seconds: '0.09', page: 500, times: 7 },
  ])('are found without reading a table of $held again and again', async ({ seconds, page, times }) => {
    await ledger.owner.query(
      `INSERT INTO charges (id, account_id, state, amount, settled, released, refusal_code, created_at, resolved_at)
       SELECT 'charge-' || n, 'account', CASE WHEN is_refused THEN 'refused' ELSE 'settled' END, 1,
         CASE WHEN NOT is_refused THEN 1 END, CASE WHEN NOT is_refused THEN 0 END, CASE WHEN is_refused THEN 'frozen' END,
         at, CASE WHEN NOT is_refused THEN at + interval '1 second' END
       FROM generate_series(1, 40000) AS n, LATERAL (SELECT $1::timestamptz + (n - 20000) * interval '1 s' * $2 AS at,
         n % 10 = 0 AS is_refused) AS made`,
      [HOUR, seconds],
    );
    await ledger.owner.query('VACUUM (FULL, ANALYZE) charges');
    const pool = openPool({ url: ledger.urlFor('billing'), max: 1, applicationName: 'request-log' });
    try {
      const before = await blocksRead(pool);
      for await (const { count } of linesOfHour(pool, new Date(HOUR), page))
        expect(count).toBeLessThanOrEqual(page);
      const { rows } = await pool.query<{ pages: number }>(
        `SELECT (pg_relation_size('charges') / current_setting('block_size')::int)::int AS pages`,
      );
      const read = (await blocksRead(pool)) - before;
      expect(read).toBeGreaterThan(0);
      expect(read).toBeLessThan(times * rows[0]!.pages);
    } finally {
      await pool.end();
    }
  });
});

/** Of the charges, over the one connection of a pool so far. */
async function blocksRead(pool: pg.Pool): Promise<number> {
  await pool.query('SELECT pg_stat_force_next_flush()');
  const { rows } = await pool.query<{ blocks: number }>(
    `SELECT (heap_blks_read + heap_blks_hit)::int AS blocks FROM pg_statio_user_tables WHERE relname = 'charges'`,
  );
  return rows[0]!.blocks;
}
