import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { markHorizon } from '#ledger/postings/horizon.js';
import { exportedThrough, exportNextHour } from '#usage/request-log/hour-export.js';
import { until } from '../support/eventually.js';
import { createLedgerFixture, type LedgerFixture } from '../support/ledger.js';
import { S3Server } from './s3-server.js';

const BUCKET = 'requests';
const HOUR = '2026-01-05T13:00:00.000Z';
const KEY = 'requests/2026/01/05/13.ndjson.gz';
/** Three pages, and more than one part of an upload, since their text hardly compresses. */
const REQUESTS = 3_000;
const TEXTS_EACH = 120;

let ledger: LedgerFixture;
let server: S3Server;

beforeAll(async () => {
  [ledger, server] = await Promise.all([createLedgerFixture(), S3Server.start(BUCKET)]);
  await ledger.owner.query(
    `INSERT INTO charges (id, account_id, state, settled, released, request_id, resolved_at)
     SELECT 'charge-' || n, 'account', 'settled', 0, 0,
       (SELECT string_agg(md5(n || '.' || m), '') FROM generate_series(1, $3::int) AS m), $1::timestamptz + n * interval '1 ms'
     FROM generate_series(1, $2::int) AS n`,
    [HOUR, REQUESTS, TEXTS_EACH],
  );
});
afterAll(async () => {
  await ledger?.close();
  await server?.close();
});
beforeEach(async () => {
  await server.store(BUCKET).remove(KEY);
  await ledger.owner.query('DELETE FROM exported_hours');
  await ledger.owner.query(
    `INSERT INTO exported_hours (hour, lines, bytes, sha256) VALUES ($1::timestamptz - interval '1 hour', 0, 20, $2)`,
    [HOUR, '0'.repeat(64)],
  );
  await until('what runs to end', () => markHorizon(ledger.billing));
});

const exportTo = (store = server.store(BUCKET), onLines?: (lines: number) => void) =>
  exportNextHour({ pool: ledger.billing, store, ...(onLines && { onLines }) });

/** The objects that the server lists. */
async function listed() {
  const { Contents = [] } = await server.client().send(new ListObjectsV2Command({ Bucket: BUCKET }));
  return Contents.map(({ Key, Size, ETag, LastModified }) => ({ Key, Size, ETag, LastModified }));
}

/** Expects the hour's object to have what its row says. */
async function expectWhole(): Promise<void> {
  const bytes = await buffer(await server.store(BUCKET).open(KEY));
  const lines = gunzipSync(bytes).toString().trimEnd().split('\n');
  const ids = lines.map((line) => (JSON.parse(line) as { chargeId: string }).chargeId);
  expect(ids).toEqual(Array.from({ length: REQUESTS }, (_, index) => `charge-${index + 1}`));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const { rows } = await ledger.billing.query('SELECT * FROM exported_hours WHERE hour = $1', [HOUR]);
  expect(rows).toEqual([
    expect.objectContaining({ lines: BigInt(REQUESTS), bytes: BigInt(bytes.length), sha256 }),
  ]);
  expect(await listed()).toEqual([expect.objectContaining({ Key: KEY, Size: bytes.length })]);
}

it('has every request of its hour once, in one object that is uploaded in parts', async () => {
  expect(await exportTo()).toMatchObject({ key: KEY, lines: REQUESTS });
  await expectWhole();
  const [object] = await listed();
  expect(object!.ETag).toMatch(/-\d+"$/);
});

it('is kept unchanged if the exporter was killed before it recorded the hour', async () => {
  const first = await exportTo();
  const before = await listed();
  await ledger.owner.query('DELETE FROM exported_hours WHERE hour = $1', [HOUR]);
  expect(await exportTo()).toEqual(first);
  expect(await listed()).toEqual(before);
  await expectWhole();
});

it('has no object and no row if the server is killed during the export, and is complete once it is back', async () => {
  const killed: Promise<void>[] = [];
  const onLines = (lines: number) => {
    if (lines === REQUESTS) killed.push(server.kill());
  };
  await expect(exportTo(server.store(BUCKET), onLines)).rejects.toThrow();
  await Promise.all(killed);
  expect(await exportedThrough(ledger.billing)).toEqual(new Date(HOUR));
  await server.restart();
  expect(await listed()).toEqual([]);
  await exportTo();
  await expectWhole();
});

it('is not recorded if the secret is wrong or the bucket is gone, and is exported once that is corrected', async () => {
  await expect(exportTo(server.store(BUCKET, { secretAccessKey: 'another' }))).rejects.toThrow('HTTP 403');
  await expect(exportTo(server.store('gone'))).rejects.toMatchObject({ name: 'NoSuchBucket' });
  expect(await exportedThrough(ledger.billing)).toEqual(new Date(HOUR));
  expect(await listed()).toEqual([]);
  expect(await exportTo()).toMatchObject({ lines: REQUESTS });
});
