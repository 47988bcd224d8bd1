import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { underLock } from '#database/locks.js';
import { markHorizon } from '#ledger/postings/horizon.js';
import { newId } from '#platform/ids.js';
import { FolderStore } from '#storage/folder.store.js';
import { S3Store } from '#storage/s3.store.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { until } from '../../../test/support/eventually.js';
import { exportedThrough, exportHours, exportNextHour } from './hour-export.js';

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
  await horizon();
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Waits until the present is final: other specs have transactions on the same server. */
const horizon = () => until('what runs to end', () => markHorizon(ledger.billing));

const HOUR = '2026-01-05T13:00:00.000Z';
const KEY = 'requests/2026/01/05/13.ndjson.gz';

/** Charges that ended at a time, a second after they were created. */
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

/** An object's bytes, in a folder. */
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
  it('has a line for each request that ended or was refused in it, in the order of their ends', async () => {
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

  it('is followed by that of the next hour, even if nothing ended in it', async () => {
    await ended('late', '2026-01-05T15:00:00Z');
    await exportedBefore(HOUR);
    const keys = [(await exportNext())?.key, (await exportNext())?.key, (await exportNext())?.key];
    expect(keys).toEqual([13, 14, 15].map((hour) => `requests/2026/01/05/${hour}.ndjson.gz`));
    expect(await linesOf(keys[1])).toEqual([]);
    expect(idsOf(await linesOf(keys[2]))).toEqual(['late']);
    expect(await exportedThrough(ledger.billing)).toEqual(new Date('2026-01-05T16:00:00Z'));
  });

  it('keeps its object if the process was killed before writing its row, and the row says what is there', async () => {
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

  it('keeps an object with requests that a restored database has lost', async () => {
    await exportedBefore(HOUR);
    const bytes = gzipSync('{"chargeId":"lost"}\n{"chargeId":"lost as well"}\n');
    await store.write(KEY, bytes, { maxBytes: bytes.length });
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(await exportNext()).toEqual({
      hour: new Date(HOUR),
      key: KEY,
      lines: 2,
      bytes: bytes.length,
      sha256,
    });
    expect(await bytesOf(KEY)).toEqual(bytes);
    expect(await exportedThrough(ledger.billing)).toEqual(new Date(Date.parse(HOUR) + 3_600_000));
  });

  it('is done by one process at a time', async () => {
    await exportedBefore(HOUR);
    const meanwhile = await underLock(ledger.billing, 'requestLog', exportNext);
    expect(meanwhile).toEqual({ result: null });
    expect(await exportedThrough(ledger.billing)).toEqual(new Date(HOUR));
    expect(await exportNext()).toMatchObject({ key: KEY });
  });

  it('leaves no row, and is tried again, if the store fails', async () => {
    await exportedBefore(HOUR);
    await writeFile(join(folder, 'requests'), 'no folder');
    await expect(exportNext()).rejects.toThrow(/ENOTDIR|EEXIST/);
    expect(await exportedThrough(ledger.billing)).toEqual(new Date(HOUR));
    await rm(join(folder, 'requests'));
    expect(await exportNext()).toMatchObject({ key: KEY });
  });

  it('is given up, without an object, if its program stops', async () => {
    await ended('one', HOUR);
    await exportedBefore(HOUR);
    const onLines = () => AbortSignal.abort().throwIfAborted();
    await expect(exportNextHour({ pool: ledger.billing, store, onLines })).rejects.toThrow('aborted');
    expect(await store.stat(KEY)).toBeNull();
    expect(await exportedThrough(ledger.billing)).toEqual(new Date(HOUR));
  });

  it('is given up if the program stops while a store never answers', async () => {
    const asked = Promise.withResolvers<void>();
    const silent = createServer(() => asked.resolve()).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const login = { accessKeyId: 'key-id', secretAccessKey: 'a-secret', forcePathStyle: true };
    const bucket = new S3Store({ endpoint, bucket: 'requests', region: 'eu-central-1', ...login });
    const stop = new AbortController();
    try {
      await exportedBefore(HOUR);
      const exporting = exportNextHour({ pool: ledger.billing, store: bucket, signal: stop.signal });
      await asked.promise;
      stop.abort();
      await expect(exporting).rejects.toThrow(/abort/i);
    } finally {
      silent.closeAllConnections();
      silent.close();
    }
  });
});

describe('an hour', () => {
  it('is at first the last complete one', async () => {
    const { rows } = await ledger.owner.query<{ now: Date }>('SELECT now()');
    const exported = await until('an export', exportNext);
    // An hour may have ended between the two.
    const begun = Math.floor((rows[0]!.now.getTime() - 3_600_000) / 3_600_000) * 3_600_000;
    expect([begun, begun + 3_600_000]).toContain(exported.hour.getTime());
  });

  it('is not exported before it is complete', async () => {
    await ledger.owner.query(
      `INSERT INTO exported_hours (hour, lines, bytes, sha256) VALUES (date_trunc('hour', now()), 0, 20, $1)`,
      ['0'.repeat(64)],
    );
    expect(await exportNext()).toBeNull();
  });

  it('waits for what ended in it but commits later', async () => {
    await exportedBefore(HOUR);
    const late = await ledger.owner.connect();
    try {
      await ledger.owner.query('DELETE FROM ledger_horizons');
      await late.query('BEGIN');
      await ended('late', '2026-01-05T13:59:00Z', late);
      expect(await exportNext()).toBeNull();
      expect(await store.stat(KEY)).toBeNull();
      await late.query('COMMIT');
    } finally {
      await late.query('ROLLBACK');
      late.release();
    }
    await horizon();
    expect(await exportNext()).toMatchObject({ lines: 1 });
    expect(idsOf(await linesOf())).toEqual(['late']);
  });
});

describe('requested hours', () => {
  async function exportAgain(from: string, to: string, isNoted = true): Promise<(string | number)[][]> {
    const done: (string | number)[][] = [];
    const hours = exportHours(
      { pool: ledger.billing, store },
      { from: new Date(from), to: new Date(to), isNoted },
    );
    for await (const { key, lines } of hours) done.push([key.slice(-12), lines]);
    return done;
  }

  async function notedLines(): Promise<bigint[]> {
    const { rows } = await ledger.billing.query<{ lines: bigint }>(
      'SELECT lines FROM exported_hours ORDER BY hour',
    );
    return rows.map(({ lines }) => lines);
  }

  it('are exported one by one, and the schedule still leaves none out', async () => {
    await ended('one', '2026-01-05T14:30:00Z');
    expect(await exportAgain('2026-01-05T13:00:00Z', '2026-01-05T16:00:00Z')).toEqual([
      ['13.ndjson.gz', 0],
      ['14.ndjson.gz', 1],
      ['15.ndjson.gz', 0],
    ]);
    expect(await notedLines()).toEqual([]);
    await exportedBefore(HOUR);
    expect(await exportNext()).toMatchObject({ key: KEY });
  });

  it('have the row of what is there, unless they go elsewhere', async () => {
    await exportedBefore(HOUR);
    await exportNext();
    await ended('one', HOUR);
    await exportAgain(HOUR, '2026-01-05T14:00:00Z', false);
    expect(await notedLines()).toEqual([0n, 0n]);
    await exportAgain(HOUR, '2026-01-05T14:00:00Z');
    expect(await notedLines()).toEqual([0n, 1n]);
  });

  it('must be complete', async () => {
    const to = new Date(Math.ceil(Date.now() / 3_600_000 + 1) * 3_600_000).toISOString();
    await expect(exportAgain(HOUR, to)).rejects.toThrow(`Requests can still end before ${to}: `);
    expect(await store.stat(KEY)).toBeNull();
  });
});
