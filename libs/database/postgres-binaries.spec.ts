import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { copyToCache, temporaryCache } from './postgres-binaries.js';

const SELF = { uid: null, gid: null };
const COPY = `postgres-1.2.3-${process.platform}-${process.arch}`;

let root: string;
let cache: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'postgres-binaries-'));
  chmodSync(root, 0o755);
  cache = join(root, 'cache');
  mkdirSync(cache);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A package of a server without one. */
function packageIn(folder: string): string {
  mkdirSync(join(folder, 'native', 'bin'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"version": "1.2.3"}');
  writeFileSync(join(folder, 'native', 'pg-symlinks.json'), '[]');
  return folder;
}

/** The id of a process that has ended. */
const ended = () => spawnSync('true').pid;

describe('a copy of the server', () => {
  it('takes the place of those that were not finished, except while they are made', () => {
    const [left, underWay] = [ended(), process.ppid].map((pid) => `${COPY}.${pid}`);
    for (const name of [left!, underWay!]) mkdirSync(join(cache, name));
    const copy = copyToCache(packageIn(join(root, 'package')), SELF, [() => cache]);
    expect(copy).toBe(join(cache, COPY));
    expect(readdirSync(cache).sort()).toEqual([COPY, underWay].sort());
  });

  it('leaves nothing behind where it fails', () => {
    const source = packageIn(join(root, 'package'));
    writeFileSync(join(source, 'native', 'pg-symlinks.json'), 'cut off');
    expect(copyToCache(source, SELF, [() => cache])).toBeUndefined();
    expect(readdirSync(cache)).toEqual([]);
  });

  it('in a temporary folder takes the place of that of a program that was killed', () => {
    vi.stubEnv('TMPDIR', cache);
    try {
      const left = join(cache, `tollgate-postgres-${ended()}-abc`);
      mkdirSync(left);
      const folder = temporaryCache();
      expect([existsSync(left), existsSync(folder)]).toEqual([false, true]);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});
