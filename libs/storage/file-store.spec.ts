import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FileStore, FileTooLarge } from './file-store.js';

let root: string;
let store: FileStore;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'file-store-'));
  store = new FileStore(root);
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

async function read(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

describe('the file store', () => {
  it('stores a stream or a buffer, whole, private, and in place of what was there', async () => {
    expect(
      await store.write('videos/abc.mp4', Readable.from([Buffer.from('one '), Buffer.from('two')]), {
        maxBytes: 7,
      }),
    ).toEqual({ bytes: 7 });
    expect(await read(store.open('videos/abc.mp4'))).toBe('one two');
    expect(await read(store.open('videos/abc.mp4', { start: 1, end: 4 }))).toBe('ne t');
    await store.write('videos/abc.mp4', Buffer.from('new'), { maxBytes: 3, durable: false });
    expect(await store.stat('videos/abc.mp4')).toEqual({ bytes: 3 });
    const files = filesIn(root);
    expect(files).toHaveLength(1);
    expect(statSync(files[0] ?? '').mode & 0o777).toBe(0o600);
  });

  it('leaves nothing behind when a source is too long or breaks', async () => {
    await expect(store.write('videos/a1.mp4', Buffer.alloc(5), { maxBytes: 4 })).rejects.toThrow(
      FileTooLarge,
    );
    let gaveUp = false;
    const endless = Readable.from(
      (async function* () {
        try {
          for (;;) yield Buffer.alloc(3);
        } finally {
          gaveUp = true;
        }
      })(),
      { objectMode: false },
    );
    await expect(store.write('videos/a2.mp4', endless, { maxBytes: 10 })).rejects.toThrow(FileTooLarge);
    expect(gaveUp).toBe(true);
    const broken = new Readable({ read: () => undefined });
    const writing = store.write('videos/a3.mp4', broken, { maxBytes: 10 });
    broken.push('half');
    broken.destroy(new Error('the line broke'));
    await expect(writing).rejects.toThrow('the line broke');
    expect(filesIn(root)).toEqual([]);
    expect(await store.stat('videos/a3.mp4')).toBeNull();
  });

  it('takes whichever of two concurrent writers comes last, never a mixture', async () => {
    const writes = ['a', 'b', 'c', 'd'].map((letter) =>
      store.write('images/same.png', Buffer.from(letter.repeat(100_000)), { maxBytes: 100_000 }),
    );
    await Promise.all(writes);
    expect(await read(store.open('images/same.png'))).toMatch(/^(a+|b+|c+|d+)$/);
    expect(filesIn(root)).toHaveLength(1);
  });

  it.each([
    '../etc/passwd',
    'videos/../x.mp4',
    'videos/..',
    'videos/a/b.mp4',
    '/videos/a.mp4',
    'videos/.hidden.mp4',
    'videos/a.mp4.part',
    'videos/a\u0000.mp4',
    'videos/a.mp4\n',
    'a.mp4',
    '',
  ])('refuses the key %j', async (key) => {
    await expect(store.stat(key)).rejects.toThrow(RangeError);
    await expect(store.write(key, Buffer.alloc(1), { maxBytes: 1 })).rejects.toThrow(RangeError);
    expect(() => store.open(key)).toThrow(RangeError);
  });

  it('fails the stream of a missing file, and removes one without complaint', async () => {
    await expect(read(store.open('videos/none.mp4'))).rejects.toThrow('ENOENT');
    await store.remove('videos/none.mp4');
    await store.write('videos/some.mp4', Buffer.alloc(1), { maxBytes: 1 });
    await store.remove('videos/some.mp4');
    expect(await store.stat('videos/some.mp4')).toBeNull();
  });

  it('purges what is old in one folder, remains of broken writes included', async () => {
    for (const key of ['videos/old.mp4', 'videos/new.mp4', 'images/old.png']) {
      await store.write(key, Buffer.alloc(1), { maxBytes: 1 });
    }
    const old = filesIn(root).filter((path) => path.includes('old'));
    const remains = `${old.find((path) => path.includes('videos'))}.x.part`;
    writeFileSync(remains, 'half');
    for (const path of [...old, remains]) utimesSync(path, new Date(0), new Date(0));
    expect(await store.purgeOlderThan('videos', 60_000)).toBe(2);
    expect(await store.stat('videos/new.mp4')).toEqual({ bytes: 1 });
    expect(await store.stat('videos/old.mp4')).toBeNull();
    expect(await store.stat('images/old.png')).toEqual({ bytes: 1 });
    expect(await store.purgeOlderThan('missing', 0)).toBe(0);
    await expect(store.purgeOlderThan('../x', 0)).rejects.toThrow(RangeError);
  });

  it('is well when files can be written', async () => {
    await store.check();
    expect(filesIn(root)).toEqual([]);
    writeFileSync(join(root, 'file'), '');
    await expect(new FileStore(join(root, 'file')).check()).rejects.toThrow();
  });
});
