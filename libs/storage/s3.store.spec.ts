import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { S3Server } from './s3-server.fixture.js';
import { type S3Options, S3Store } from './s3.store.js';

let server: S3Server;

beforeEach(async () => {
  server = await S3Server.start('files', 'key-id');
});

afterEach(() => server.close());

function storeWith(options: Partial<S3Options> = {}): S3Store {
  return new S3Store({
    endpoint: server.url,
    bucket: 'files',
    region: 'eu-central-1',
    accessKeyId: 'key-id',
    secretAccessKey: 'a-secret',
    forcePathStyle: true,
    ...options,
  });
}

function stream(mebibytes: number): Readable {
  const chunks = Array.from({ length: mebibytes }, () => Buffer.alloc(1024 * 1024));
  return Readable.from(chunks, { objectMode: false });
}

describe('the store in a bucket', () => {
  it('sends short sources at once and long ones in parts', async () => {
    await storeWith().write('videos/short.mp4', stream(1), { maxBytes: 2 ** 30 });
    expect(server.operations).toEqual(['PutObject']);
    server.operations.length = 0;
    await storeWith().write('videos/long.mp4', stream(12), { maxBytes: 2 ** 30 });
    expect(server.operations).toEqual([
      'CreateMultipartUpload',
      'UploadPart',
      'UploadPart',
      'UploadPart',
      'CompleteMultipartUpload',
    ]);
  });

  it('asks the bucket for a list page by page', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await storeWith().write(`videos/${name}.mp4`, Buffer.alloc(1), { maxBytes: 1 });
    }
    server.operations.length = 0;
    expect(await storeWith().purgeOlderThan('videos', 60_000)).toBe(0);
    expect(server.operations).toEqual([
      'ListObjectsV2',
      'ListObjectsV2',
      'ListObjectsV2',
      'ListMultipartUploads',
    ]);
  });

  it('tells a refused key or a missing bucket from a missing file', async () => {
    const refused = storeWith({ accessKeyId: 'another' });
    await expect(refused.check()).rejects.toThrow();
    await expect(refused.stat('videos/a.mp4')).rejects.toThrow();
    await expect(refused.open('videos/a.mp4')).rejects.toThrow('SignatureDoesNotMatch');
    await expect(storeWith({ bucket: 'none' }).check()).rejects.toThrow();
    await expect(storeWith({ bucket: 'none' }).open('videos/a.mp4')).rejects.toThrow('NoSuchBucket');
  });

  it('names the place without its keys', () => {
    expect(storeWith().place).toBe(`${server.url} files`);
  });
});
