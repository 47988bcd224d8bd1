// The Prometheus that checks the rules and dashboards: the one that is installed, else unpacked from its Debian package,
// which needs no root and starts no service.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './clone.mjs';

const PROGRAMS = ['prometheus', 'promtool'];
const LIMIT_MS = 300_000;

/**
 * @param {(text: string) => void} say
 * @returns {{ folder: string }} where its programs are: '' where they are on the PATH
 * @throws Error saying why there is none
 */
export function findPrometheus(say) {
  if (runs('')) return { folder: '' };
  const cache = join(root, '.cache', 'prometheus');
  const folder = join(cache, 'usr', 'bin');
  if (runs(folder)) return { folder };
  say('Unpacking Prometheus from its Debian package …');
  unpack(cache);
  if (!runs(folder)) throw new Error('The Prometheus of the Debian package does not run here.');
  return { folder };
}

function runs(folder) {
  return PROGRAMS.every((name) => spawnSync(join(folder, name), ['--version']).status === 0);
}

function unpack(cache) {
  mkdirSync(join(root, '.cache'), { recursive: true });
  const partial = mkdtempSync(`${cache}.`);
  try {
    const isHere = download(partial);
    // The lists of packages may be absent or old, as in a fresh container; only root can renew them.
    if (isHere.status !== 0) run('apt-get', ['update', '-qq'], partial);
    const { status, reason } = isHere.status === 0 ? isHere : download(partial);
    if (status !== 0)
      throw new Error(`There is no Prometheus here, and apt-get could not download its package (${reason}).`);
    const [file] = readdirSync(partial).filter((name) => name.endsWith('.deb'));
    const unpacked = run('dpkg-deb', ['--extract', file, 'tree'], partial);
    if (unpacked.status !== 0) throw new Error(`Prometheus could not be unpacked (${unpacked.reason}).`);
    rmSync(cache, { recursive: true, force: true });
    renameSync(join(partial, 'tree'), cache);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

function download(folder) {
  return run('apt-get', ['download', '-qq', 'prometheus'], folder);
}

function run(command, args, cwd) {
  const { status, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: LIMIT_MS });
  return { status, reason: stderr?.trim().split('\n').at(-1) || error?.message || 'no reason given' };
}
