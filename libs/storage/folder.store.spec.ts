import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
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

it('is not healthy if no file can be written', async () => {
  writeFileSync(join(root, 'file'), '');
  await expect(new FolderStore(join(root, 'file')).check()).rejects.toThrow();
});
