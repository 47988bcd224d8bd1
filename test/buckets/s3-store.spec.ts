import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import {
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
} from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { storeContract, type StoreWorld } from '../support/store-contract.js';
import { S3Server } from './s3-server.js';

const BUCKET = 'files';
const Bucket = BUCKET;

let server: S3Server;

beforeAll(async () => {
  server = await S3Server.start(BUCKET);
});
afterAll(() => server?.close());

function empty(): void {
  rmSync(server.folderOf(BUCKET), { recursive: true });
  mkdirSync(server.folderOf(BUCKET));
}

async function openBucket(): Promise<StoreWorld> {
  const client = server.client();
  return {
    store: server.store(BUCKET),
    contents: async () => {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }));
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
      return [...Contents, ...Uploads].map(({ Key }) => Key!);
    },
    breakOff: async (Key) => void (await client.send(new CreateMultipartUploadCommand({ Bucket, Key }))),
    age: async (part) => age(part),
    close: async () => {
      client.destroy();
      empty();
    },
  };
}

/** The server stores each object as a file. */
function age(part: string): void {
  const entries = readdirSync(server.folderOf(BUCKET), { recursive: true, withFileTypes: true });
  for (const { name, parentPath } of entries)
    if (name.includes(part)) utimesSync(join(parentPath, name), new Date(0), new Date(0));
}

describe('the file store in a bucket', () => {
  storeContract(openBucket);
});

describe('the store in a bucket', () => {
  afterEach(empty);

  const stream = (mebibytes: number) =>
    Readable.from(
      Array.from({ length: mebibytes }, () => Buffer.alloc(1024 * 1024)),
      { objectMode: false },
    );

  it('sends short sources at once and long ones in parts', async () => {
    const store = server.store(BUCKET);
    const tagOf = async (Key: string) =>
      (await server.client().send(new HeadObjectCommand({ Bucket, Key }))).ETag;
    await store.write('videos/short.mp4', stream(1), { maxBytes: 2 ** 30 });
    const hash = createHash('md5').update(Buffer.alloc(1024 * 1024));
    expect(await tagOf('videos/short.mp4')).toBe(`"${hash.digest('hex')}"`);
    await store.write('videos/long.mp4', stream(12), { maxBytes: 2 ** 30 });
    expect(await tagOf('videos/long.mp4')).toMatch(/-3"$/);
  });

  it('lists and purges a bucket page by page', async () => {
    const folder = join(server.folderOf(BUCKET), 'videos');
    mkdirSync(folder);
    for (let number = 0; number < 1_001; number += 1) writeFileSync(join(folder, `${number}.mp4`), '');
    age('.mp4');
    const store = server.store(BUCKET);
    const keys: string[] = [];
    for await (const key of store.keys()) keys.push(key);
    expect(new Set(keys).size).toBe(1_001);
    expect(await store.purgeOlderThan('videos', 60_000)).toBe(1_001);
    expect(await store.stat('videos/1000.mp4')).toBeNull();
  });

  it.each([
    [
      'its secret is wrong',
      () => server.store(BUCKET, { secretAccessKey: 'another' }),
      'SignatureDoesNotMatch',
    ],
    ['its key is unknown', () => server.store(BUCKET, { accessKeyId: 'another' }), 'InvalidAccessKeyId'],
    ['its bucket is missing', () => server.store('none'), 'NoSuchBucket'],
  ] as const)('says so if %s', async (_fault, open, name) => {
    const store = open();
    await expect(store.check()).rejects.toMatchObject({ name });
    await expect(store.open('videos/a.mp4')).rejects.toMatchObject({ name });
    const bytes = Buffer.alloc(1);
    await expect(store.write('videos/a.mp4', bytes, { maxBytes: 1 })).rejects.toMatchObject({ name });
    // An answer without a body has no code.
    const found = name === 'NoSuchBucket' ? { name } : { message: 'the store answered with HTTP 403' };
    await expect(store.stat('videos/a.mp4')).rejects.toMatchObject(found);
  });

  it('names the place without its keys', () => {
    expect(server.store(BUCKET).place).toBe(`${server.url} ${BUCKET}`);
  });
});
