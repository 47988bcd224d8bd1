import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { S3Store } from './s3.store.js';

let silent: Server;
let store: S3Store;

beforeEach(async () => {
  silent = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  store = new S3Store({
    endpoint: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
    bucket: 'files',
    region: 'any',
    accessKeyId: 'id',
    secretAccessKey: 'secret',
    forcePathStyle: true,
  });
});
afterEach(() => {
  silent.closeAllConnections();
  silent.close();
});

it('stops waiting for a store that never answers when the write is cancelled', async () => {
  const cancelled = new AbortController();
  silent.once('request', () => cancelled.abort());
  const write = store.write('images/a.png', Buffer.from('a'), { maxBytes: 10, signal: cancelled.signal });
  await expect(write).rejects.toMatchObject({ name: 'AbortError' });
});

it('asks once which of many files exist', async () => {
  const asked: string[] = [];
  silent.on('request', ({ url = '' }, answer) => {
    asked.push(url);
    answer.end('<ListBucketResult><Contents><Key>images/a-1.png</Key></Contents></ListBucketResult>');
  });
  const endings = Array.from({ length: 64 }, (_, index) => `${index}.png`);
  expect(await store.existing('images/a-', endings)).toEqual(['1.png']);
  expect(asked).toEqual([expect.stringContaining('prefix=images%2Fa-')]);
});
