import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type FileStore, FileMissing, FileTooLarge } from '#storage/file-store.js';

/** A store, and what its tests must see and do behind its back. */
export interface StoreWorld {
  store: FileStore;
  /** Everything stored, finished or not. */
  contents(): Promise<string[]>;
  /** Leaves behind what a process leaves if it dies while writing this key. */
  breakOff(key: string): Promise<void>;
  /** Makes everything stored whose name contains this very old. */
  age(part: string): Promise<void>;
  close(): Promise<void>;
}

const MEBIBYTE = 1024 * 1024;

/** What every store promises. Each runs these same tests. */
export function storeContract(openWorld: () => Promise<StoreWorld>): void {
  let world: StoreWorld;
  let store: FileStore;

  beforeEach(async () => {
    world = await openWorld();
    store = world.store;
  });

  afterEach(() => world.close());

  it('stores a stream or a buffer whole, replacing what was there', async () => {
    const source = Readable.from([Buffer.from('one '), Buffer.from('two')]);
    expect(await store.write('videos/abc.mp4', source, { maxBytes: 7 })).toEqual({ bytes: 7 });
    expect(await read(await store.open('videos/abc.mp4'))).toBe('one two');
    expect(await read(await store.open('videos/abc.mp4', { start: 1, end: 4 }))).toBe('ne t');
    await store.write('videos/abc.mp4', Buffer.from('new'), { maxBytes: 3, durable: false });
    expect(await store.stat('videos/abc.mp4')).toEqual({ bytes: 3 });
    expect(await world.contents()).toHaveLength(1);
  });

  it('finds which of some files exist', async () => {
    for (const name of ['a-0.png', 'a-1.webp', 'a-10.png', 'b-0.png'])
      await store.write(`images/${name}`, Buffer.from('x'), { maxBytes: 1 });
    const endings = ['0.png', '0.webp', '1.png', '1.webp'];
    expect(await store.existing('images/a-', endings)).toEqual(['0.png', '1.webp']);
    expect(await store.existing('images/c-', endings)).toEqual([]);
  });

  it('stores a stream of many mebibytes unchanged', async () => {
    const chunks = Array.from({ length: 12 }, (_, index) => Buffer.alloc(MEBIBYTE, 97 + index));
    const source = Readable.from(chunks, { objectMode: false });
    expect(await store.write('videos/long.mp4', source, { maxBytes: 12 * MEBIBYTE })).toEqual({
      bytes: 12 * MEBIBYTE,
    });
    expect(await store.stat('videos/long.mp4')).toEqual({ bytes: 12 * MEBIBYTE });
    expect(await read(await store.open('videos/long.mp4'))).toBe(Buffer.concat(chunks).toString());
    expect(await world.contents()).toHaveLength(1);
  });

  it('leaves nothing behind if a source is too long', async () => {
    await expect(store.write('videos/a1.mp4', Buffer.alloc(5), { maxBytes: 4 })).rejects.toThrow(
      FileTooLarge,
    );
    for (const mebibytes of [1, 7]) {
      let gaveUp = false;
      const endless = Readable.from(
        (async function* () {
          try {
            for (;;) yield Buffer.alloc(MEBIBYTE);
          } finally {
            gaveUp = true;
          }
        })(),
        { objectMode: false },
      );
      const writing = store.write('videos/a2.mp4', endless, { maxBytes: mebibytes * MEBIBYTE });
      await expect(writing).rejects.toThrow(FileTooLarge);
      expect(gaveUp).toBe(true);
    }
    expect(await world.contents()).toEqual([]);
    expect(await store.stat('videos/a2.mp4')).toBeNull();
  });

  it.each([1, 7])('leaves nothing behind if a source breaks after %d MiB', async (mebibytes) => {
    let sent = 0;
    const broken = new Readable({
      read() {
        if (sent++ < mebibytes) this.push(Buffer.alloc(MEBIBYTE));
        else this.destroy(new Error('the line broke'));
      },
    });
    await expect(store.write('videos/a3.mp4', broken, { maxBytes: 10 * MEBIBYTE })).rejects.toThrow(
      'the line broke',
    );
    expect(await world.contents()).toEqual([]);
    expect(await store.stat('videos/a3.mp4')).toBeNull();
  });

  it('keeps the result of whichever concurrent writer comes last, never a mixture', async () => {
    const writes = ['a', 'b', 'c', 'd'].map((letter) =>
      store.write('images/same.png', Buffer.from(letter.repeat(100_000)), { maxBytes: 100_000 }),
    );
    await Promise.all(writes);
    expect(await read(await store.open('images/same.png'))).toMatch(/^(a+|b+|c+|d+)$/);
    expect(await world.contents()).toHaveLength(1);
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
    'requests/2026/11/24/13.ndjson.gz.part',
    'requests/2026/11/../13.ndjson.gz',
    'requests/2026/11/24/13.gz',
    'a.mp4',
    '',
  ])('refuses the key %j', async (key) => {
    await expect(store.stat(key)).rejects.toThrow(RangeError);
    await expect(store.write(key, Buffer.alloc(1), { maxBytes: 1 })).rejects.toThrow(RangeError);
    await expect(store.write(key, Readable.from(['x']), { maxBytes: 1 })).rejects.toThrow(RangeError);
    await expect(store.open(key)).rejects.toThrow(RangeError);
    await expect(store.remove(key)).rejects.toThrow(RangeError);
  });

  it('does not open a missing file, and removes one without complaint', async () => {
    await expect(store.open('videos/none.mp4')).rejects.toThrow(FileMissing);
    await store.remove('videos/none.mp4');
    await store.write('videos/some.mp4', Buffer.alloc(1), { maxBytes: 1 });
    await store.remove('videos/some.mp4');
    expect(await store.stat('videos/some.mp4')).toBeNull();
  });

  it('lists the keys of its files, over several pages of a store', async () => {
    const keys = ['images/a1.png', 'images/b2.png', 'videos/c3.mp4', 'videos/d4.mp4', 'videos/e5.mp4'];
    for (const key of keys) await store.write(key, Buffer.from(key), { maxBytes: 100 });
    await store.remove('images/b2.png');
    expect((await keysOf(store)).sort()).toEqual(keys.filter((key) => key !== 'images/b2.png'));
  });

  it('keeps what belongs to an hour in folders by time', async () => {
    const keys = ['requests/2026/11/24/13.ndjson.gz', 'requests/2026/11/25/13.ndjson.gz'];
    for (const key of keys) await store.write(key, Readable.from([Buffer.from(key)]), { maxBytes: 100 });
    const names = await world.contents();
    expect(names.map((name) => name.slice(-keys[0]!.length)).sort()).toEqual(keys);
    expect(await read(await store.open(keys[1]!))).toBe(keys[1]);
    expect((await keysOf(store)).sort()).toEqual(keys);
    await store.remove(keys[0]!);
    expect(await keysOf(store)).toEqual([keys[1]]);
  });

  it('purges old files in one folder, including remains of broken writes', async () => {
    const old = ['old1', 'old2', 'old3', 'old4', 'old5'].map((name) => `videos/${name}.mp4`);
    for (const key of [...old, 'videos/new.mp4', 'images/old.png']) {
      await store.write(key, Buffer.alloc(1), { maxBytes: 1 });
    }
    await world.breakOff('videos/oldremains.mp4');
    await world.age('old');
    await world.breakOff('videos/newremains.mp4');
    expect(await store.purgeOlderThan('videos', 60_000)).toBe(6);
    expect(await store.stat('videos/new.mp4')).toEqual({ bytes: 1 });
    expect(await store.stat('videos/old4.mp4')).toBeNull();
    expect(await store.stat('images/old.png')).toEqual({ bytes: 1 });
    expect(await world.contents()).toHaveLength(3);
    expect(await store.purgeOlderThan('missing', 0)).toBe(0);
    await expect(store.purgeOlderThan('../x', 0)).rejects.toThrow(RangeError);
  });

  it('is healthy, and leaves no trace of the check', async () => {
    await store.check();
    expect(await world.contents()).toEqual([]);
  });
}

async function read(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function keysOf(store: FileStore): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of store.keys()) keys.push(key);
  return keys;
}
