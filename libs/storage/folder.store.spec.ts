import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FolderStore } from './folder.store.js';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'folder-store-'));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

it('keeps files from other users of the machine', async () => {
  await new FolderStore(root).write('videos/abc.mp4', Buffer.from('x'), { maxBytes: 1 });
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  const modes = entries.map((entry) => statSync(join(entry.parentPath, entry.name)).mode & 0o777);
  expect(modes.sort()).toEqual([0o600, 0o700, 0o700]);
});

it('leaves nothing behind of a write that is cancelled, whatever its source does', async () => {
  const store = new FolderStore(root);
  const cancelled = { maxBytes: 1_000, signal: AbortSignal.abort(new Error('too late')) };
  await expect(store.write('images/a.png', Buffer.from('x'), cancelled)).rejects.toThrow();
  const [giveUp, silent] = [new AbortController(), new Readable({ read: () => undefined })];
  silent.push('the beginning');
  const written = store.write('images/b.png', silent, { maxBytes: 1_000, signal: giveUp.signal });
  giveUp.abort();
  await expect(written).rejects.toThrow();
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files).toEqual([]);
});

it('is not healthy if no file can be written', async () => {
  writeFileSync(join(root, 'file'), '');
  await expect(new FolderStore(join(root, 'file')).check()).rejects.toThrow();
});

it('spreads the images of many charges over many folders', async () => {
  const store = new FolderStore(root);
  for (const id of ['chargea1', 'chargeb2', 'chargec3'])
    await store.write(`images/${id}-0.png`, Buffer.from('x'), { maxBytes: 1 });
  expect(readdirSync(join(root, 'images')).sort()).toEqual(['a1', 'b2', 'c3']);
});

it('finds and removes images where the version before put them', async () => {
  const [folder, key] = [join(root, 'images', '-0'), 'images/chargea1-0.png'];
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'chargea1-0.png'), 'old');
  const store = new FolderStore(root);
  expect(await store.stat(key)).toEqual({ bytes: 3 });
  expect(await text(await store.open(key))).toBe('old');
  await store.remove(key);
  expect(readdirSync(folder)).toEqual([]);
});
