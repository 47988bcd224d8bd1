import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WriteOptions } from '#storage/file-store.js';
import { FolderStore } from '#storage/folder.store.js';
import type { LeasedTask } from '#tasks/leased-task.js';
import { Upstreams } from '#upstream/adapters.js';
import { channelTo, startStub, type StubUpstream } from '#upstream/upstream.fixture.js';
import { copyFile } from './file-copy.js';

const MB = 1024 * 1024;
/** An MP4 file whose last box never ends. */
const BEGINNING = Buffer.concat([box('ftyp', 'isom0000'), box('moov', 'tracks'), box('mdat', '', 400 * MB)]);

let upstreams: Upstreams;
let folder: string;
let vendor: StubUpstream;
/** The vendor's answer, once it was asked. */
let answering: PromiseWithResolvers<ServerResponse>;

beforeEach(async () => {
  upstreams = new Upstreams();
  folder = mkdtempSync(join(tmpdir(), 'file-copy-'));
  answering = Promise.withResolvers();
  vendor = await startStub((_, response) => {
    response.write(BEGINNING);
    answering.resolve(response);
  });
});

afterEach(async () => {
  await upstreams.close();
  await vendor.close();
  rmSync(folder, { recursive: true });
});

function box(type: string, payload: string, bytes = payload.length): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + bytes);
  return Buffer.concat([head.fill(type, 4, 8, 'latin1'), Buffer.from(payload)]);
}

/** Takes one chunk, and the next ones when the vendor's connection has been given up. */
class SlowStore extends FolderStore {
  override write(key: string, source: Readable, options: WriteOptions): Promise<{ bytes: number }> {
    return super.write(key, Readable.from(slowly(source)), options);
  }
}

async function* slowly(source: Readable): AsyncGenerator<Buffer> {
  for await (const chunk of source as AsyncIterable<Buffer>) {
    yield chunk;
    const response = await answering.promise;
    if (!response.destroyed) await once(response, 'close');
  }
}

function copyTo(storage: FolderStore) {
  const task = { kind: 'video', id: 'a' } as LeasedTask;
  const channel = channelTo(vendor.url);
  const signal = new AbortController().signal;
  return copyFile({ upstreams, storage }, task, {
    channel,
    fileUrl: `${vendor.url}/f`,
    signal,
    limitMs: 3_000,
  });
}

describe('a copy that takes too long', () => {
  it('is the vendor’s failure if the vendor sends nothing more', async () => {
    expect(await copyTo(new FolderStore(folder))).toMatchObject({ ok: false, isStores: false });
  });

  it('is our store’s failure if the store takes nothing more', async () => {
    void answering.promise.then((response) => response.write(Buffer.alloc(64 * MB)));
    expect(await copyTo(new SlowStore(folder))).toMatchObject({ ok: false, isStores: true });
  });
});
