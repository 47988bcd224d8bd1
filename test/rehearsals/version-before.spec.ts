import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CannotRunHere } from './result.js';
import { removeUnused, versionBefore } from './version-before.js';

describe('the version before', () => {
  let folder: string;
  let clone: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-version-before-'));
    clone = join(folder, 'clone');
    execFileSync('git', ['init', '--quiet', clone]);
    mkdirSync(join(clone, 'libs/database/migrations'), { recursive: true });
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  function git(...args: string[]): string {
    const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
    return execFileSync('git', ['-C', clone, ...who, ...args], { encoding: 'utf8' }).trim();
  }

  function commit(migration?: string, sql = 'SELECT 1'): string {
    if (migration) writeFileSync(join(clone, 'libs/database/migrations', migration), sql);
    git('add', '--all');
    git('commit', '--quiet', '--allow-empty', '--message', 'One');
    return git('rev-parse', 'HEAD');
  }

  it('is the newest commit without the latest migrations', async () => {
    commit('0001_first.sql');
    const before = commit();
    commit('0002_second.sql');
    commit();
    expect(await versionBefore(clone)).toBe(before);
  });

  it('is the newest release, and neither its release candidates nor this version', async () => {
    commit('0001_first.sql');
    git('tag', 'v1.9.0');
    commit();
    git('tag', 'v1.10.0-rc.1');
    const release = commit();
    git('tag', 'v1.10.0');
    commit('0002_second.sql');
    git('tag', 'v1.11.0');
    expect(await versionBefore(clone)).toBe(release);
  });

  it('cannot be found in a shallow clone, which says how to complete it', async () => {
    commit('0001_first.sql');
    commit('0002_second.sql');
    const shallow = join(folder, 'shallow');
    execFileSync('git', ['clone', '--quiet', '--depth', '1', `file://${clone}`, shallow]);
    await expect(versionBefore(shallow)).rejects.toThrow(
      'this clone is shallow: `git fetch --unshallow --tags`',
    );
    await expect(versionBefore(shallow)).rejects.toThrow(CannotRunHere);
    await expect(versionBefore(folder)).rejects.toThrow(CannotRunHere);
  });

  it('must know the migration that a removing one needs', async () => {
    commit('0001_first.sql');
    commit('0002_unused.sql');
    const takesAway = '-- Needs programs that know 0002.\nSELECT 1';
    const before = git('rev-parse', 'HEAD');
    commit('0003_takes_away.sql', takesAway);
    expect(await versionBefore(clone)).toBe(before);
    git('tag', 'v1.0.0', 'HEAD~2');
    await expect(versionBefore(clone)).rejects.toThrow(
      /^0003_takes_away.sql needs programs that know 0002, and the version before, \w+, knows 0001 at most/,
    );
  });
});

it('keeps checkouts that may be in use', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-checkouts-'));
  for (const name of ['used', 'forgotten']) mkdirSync(join(folder, name));
  const long = new Date(Date.now() - 7 * 24 * 3_600_000);
  utimesSync(join(folder, 'forgotten'), long, long);
  removeUnused(folder);
  expect(readdirSync(folder)).toEqual(['used']);
  rmSync(folder, { recursive: true });
});
