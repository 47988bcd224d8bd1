import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { moveAnHourBack } from '../support/earlier-charges.js';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';
import { S3Server } from './s3-server.js';

const FILES = 'files';
const LOG = 'requests';
const OLD = 'images/old.png';

let server: S3Server;
let relay: Relay;
let customer: Customer;

beforeAll(async () => {
  server = await S3Server.start(FILES, LOG);
  const old = join(server.folderOf(FILES), OLD);
  mkdirSync(dirname(old));
  writeFileSync(old, 'old');
  utimesSync(old, new Date(0), new Date(0));
  relay = await startRelay({
    ...server.settings,
    STORAGE: 's3',
    S3_BUCKET: FILES,
    REQUEST_LOG: 's3',
    REQUEST_LOG_BUCKET: LOG,
    REQUEST_LOG_SECONDS: '0.1',
  });
  customer = await relay.customer('5');
});
afterAll(async () => {
  await closeClean(relay).finally(() => server?.close());
});

interface Images {
  data: { url?: string; b64_json?: string }[];
}

const image = (format: string) =>
  customer.send(
    '/v1/images/generations',
    json({ model: 'imgmodel-4', prompt: 'a gate', response_format: format }),
  );
const imagesOf = async (answer: Response) => ((await answer.json()) as Images).data;

const namesIn = (bucket: string) =>
  readdirSync(server.folderOf(bucket), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => relative(server.folderOf(bucket), join(parentPath, name)));

/** The server first writes files under another name. */
const hoursIn = (bucket: string) => namesIn(bucket).filter((name) => name.endsWith('.gz'));

it('removes old files from the bucket', async () => {
  await until('their removal', async () => !namesIn(FILES).includes(OLD));
});

it('stores images in the bucket, and serves them by their links, whole and in part', async () => {
  const answer = await image('url');
  const [{ url }] = (await imagesOf(answer)) as [{ url: string }];
  expect(namesIn(FILES)).toEqual([`images/${answer.headers.get('x-request-id')}-0.png`]);
  const whole = Buffer.from(await (await fetch(url)).arrayBuffer());
  expect(whole.subarray(1, 4).toString()).toBe('PNG');
  const part = await fetch(url, { headers: { range: 'bytes=1-3' } });
  expect([part.status, await part.text()]).toEqual([206, 'PNG']);
});

it('keeps a video in the bucket until its owner deletes it', async () => {
  const sdk = customer.sdk();
  const { id } = await sdk.videos.create({ model: 'vendora-imagine-video', prompt: 'a boat', seconds: '4' });
  await until('the video', async () => (await sdk.videos.retrieve(id)).status === 'completed');
  const isKept = () => namesIn(FILES).includes(`videos/${id}.mp4`);
  expect(isKept()).toBe(true);
  const bytes = Buffer.from(await (await sdk.videos.downloadContent(id)).arrayBuffer());
  expect(bytes.subarray(4, 8).toString()).toBe('ftyp');
  await sdk.videos.delete(id);
  expect(isKept()).toBe(false);
});

it('charges for no image that it could not store, but for those that it sends without the bucket', async () => {
  const { main } = await customer.balance();
  rmSync(server.folderOf(FILES), { recursive: true });
  expect((await image('url')).status).toBe(502);
  expect(await customer.balance()).toEqual({ main, held: '0' });
  expect((await imagesOf(await image('b64_json')))[0]!.b64_json).toMatch(/^iVBOR/);
  mkdirSync(server.folderOf(FILES));
  expect((await image('url')).status).toBe(200);
});

it('exports the request log once its bucket exists, and charges for images before that too', async () => {
  await until('the first hour', async () => hoursIn(LOG).length > 0);
  const earlier = relay.logged().length;
  rmSync(server.folderOf(LOG), { recursive: true });
  await moveAnHourBack(relay.fixture);
  await until('a failed export', async () => relay.logged().includes('NoSuchBucket', earlier));
  expect((await image('b64_json')).status).toBe(200);
  mkdirSync(server.folderOf(LOG));
  const { rows } = await relay.fixture.billing.query<{ id: string }>(
    `SELECT id FROM charges WHERE coalesce(resolved_at, created_at) < date_trunc('hour', now(), 'UTC')`,
  );
  const ids = rows.map(({ id }) => id);
  expect(ids.length).toBeGreaterThan(1);
  const found = await until('the hours', async () => {
    const exportedIds = (await exported()).map(({ chargeId }) => chargeId);
    return ids.every((id) => exportedIds.includes(id)) && exportedIds;
  });
  expect(new Set(found).size).toBe(found.length);
});

async function exported(): Promise<{ chargeId: string }[]> {
  const store = server.store(LOG);
  const texts: string[] = [];
  for (const key of hoursIn(LOG)) texts.push(gunzipSync(await buffer(await store.open(key))).toString());
  const lines = texts.join('').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as { chargeId: string });
}
