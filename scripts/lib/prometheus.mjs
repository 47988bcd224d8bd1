// The Prometheus that checks rules and dashboards: the installed one, or else one unpacked from its Debian package.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './clone.mjs';
import { unpackPackage } from './debian-package.mjs';

const PROGRAMS = ['prometheus', 'promtool'];

/**
 * @param {(text: string) => void} say
 * @returns {{ folder: string }} where its programs are; '' if they are on the PATH
 * @throws Error saying why there is none
 */
export function findPrometheus(say) {
  if (runs('')) return { folder: '' };
  const cache = join(root, '.cache', 'prometheus');
  const folder = join(cache, 'usr', 'bin');
  if (runs(folder)) return { folder };
  say('Unpacking Prometheus from its Debian package …');
  unpackPackage('prometheus', cache);
  if (!runs(folder)) throw new Error('The Prometheus of the Debian package does not run here.');
  return { folder };
}

function runs(folder) {
  return PROGRAMS.every((name) => spawnSync(join(folder, name), ['--version']).status === 0);
}
