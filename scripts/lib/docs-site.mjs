// Where the documentation site lies, and the packages that build it. They are its own: the relay runs without them.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root, say } from './clone.mjs';

export const docs = join(root, 'docs');
export const vitepress = join(docs, 'node_modules', 'vitepress', 'bin', 'vitepress.js');

export function canBuildDocs() {
  return existsSync(vitepress);
}

/** @throws Error when npm fails */
export function installDocs() {
  if (canBuildDocs()) return;
  say('Installing what builds the documentation …');
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: docs,
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw new Error('The packages of the documentation could not be installed, see above.');
}
