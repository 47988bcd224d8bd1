import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkOut, NotInstalled, type Packages, runsOn } from './checkout.js';

const SUM = { version: '1.0.0', integrity: 'sha512-a' };

describe('a checkout', () => {
  let folder: string;
  let clone: string;
  let place: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-checkout-'));
    clone = join(folder, 'clone');
    place = join(folder, 'cache', 'other');
    git('init', '--quiet', clone);
    lock(clone, 'package-lock.json', {});
    lock(clone, 'node_modules/.package-lock.json', {});
    write('package.json', '{ "name": "other", "version": "1.0.0" }');
    write('.npmrc', 'offline=true');
    write('scripts/build.mjs', `import { mkdirSync } from 'node:fs'; mkdirSync('dist');`);
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  function git(...args: string[]): string {
    const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
    return execFileSync('git', [...who, ...args], { encoding: 'utf8' }).trim();
  }

  function write(name: string, text: string): void {
    mkdirSync(dirname(join(clone, name)), { recursive: true });
    writeFileSync(join(clone, name), text);
  }

  function lock(root: string, name: string, packages: Packages): void {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    const whole = { '': { version: '1.0.0' }, ...packages };
    writeFileSync(join(root, name), JSON.stringify({ name: 'other', lockfileVersion: 3, packages: whole }));
  }

  function commit(): string {
    git('-C', clone, 'add', '--all', '--', ':!node_modules');
    git('-C', clone, 'commit', '--quiet', '--message', 'One');
    return git('-C', clone, 'rev-parse', 'HEAD');
  }

  it('is made once, and again when its packages change', async () => {
    expect(await checkOut(commit(), place, clone)).toMatchObject({ root: place });
    writeFileSync(join(place, 'made'), '');
    await checkOut('HEAD', place, clone);
    expect(readdirSync(place)).toEqual(expect.arrayContaining(['dist', 'made']));
    lock(clone, 'package-lock.json', { 'node_modules/a': { ...SUM, optional: true } });
    lock(clone, 'node_modules/.package-lock.json', { 'node_modules/a': SUM });
    await checkOut(commit(), place, clone);
    expect(existsSync(join(place, 'made'))).toBe(true);
    lock(place, 'package-lock.json', { 'node_modules/a': { ...SUM, version: '2.0.0' } });
    await checkOut('HEAD', place, clone);
    expect(existsSync(join(place, 'made'))).toBe(false);
    expect(readdirSync(dirname(place))).toEqual(['other']);
  });

  it('that does not build says which commit, and why', async () => {
    write('scripts/build.mjs', `throw new Error('no such file');`);
    const made = checkOut(commit(), place, clone);
    await expect(made).rejects.toThrow(
      new RegExp(`^${git('-C', clone, 'rev-parse', 'HEAD')} cannot be built: [^]*no such file`),
    );
    expect(readdirSync(dirname(place))).toEqual([]);
  });

  it('whose packages are unavailable is distinguished from one that does not build', async () => {
    write(
      'package.json',
      '{ "name": "other", "version": "1.0.0", "dependencies": { "nowhere-at-all": "1.0.0" } }',
    );
    lock(clone, 'package-lock.json', { 'node_modules/nowhere-at-all': SUM });
    await expect(checkOut(commit(), place, clone)).rejects.toThrow(NotInstalled);
  });

  it('removes what a killed process left, and nothing of a running one', async () => {
    const killed = spawnSync('true').pid;
    const names = ['one', `one.${killed}`, `one.${killed}.index`, `one.${process.ppid}`];
    for (const name of names) mkdirSync(join(dirname(place), name), { recursive: true });
    await checkOut(commit(), place, clone);
    expect(readdirSync(dirname(place))).toEqual(['one', `one.${process.ppid}`, 'other']);
  });
});

describe('installed packages', () => {
  const wanted: Packages = {
    '': { version: '1.0.0' },
    'node_modules/a': SUM,
    'node_modules/a/node_modules/b': SUM,
    'node_modules/checks': { ...SUM, dev: true },
    'node_modules/for-another-machine': { ...SUM, optional: true },
  };
  const installed: Packages = { 'node_modules/a': SUM, 'node_modules/a/node_modules/b': SUM };

  it.each<[string, Packages, boolean]>([
    ['the same', {}, true],
    ['others besides', { 'node_modules/c': SUM, 'node_modules/c/node_modules/a': SUM }, true],
    ['another version', { 'node_modules/a': { ...SUM, version: '1.0.1' } }, false],
    ['other content', { 'node_modules/a': { ...SUM, integrity: 'sha512-b' } }, false],
    ['another in a package', { 'node_modules/a/node_modules/c': SUM }, false],
    ['another of the machine', { 'node_modules/for-another-machine': { ...SUM, version: '2.0.0' } }, false],
  ])('%s', (_, more, expected) => {
    expect(runsOn(wanted, { ...installed, ...more })).toBe(expected);
  });

  it('a missing one', () => {
    expect(runsOn(wanted, { 'node_modules/a': SUM })).toBe(false);
  });
});
