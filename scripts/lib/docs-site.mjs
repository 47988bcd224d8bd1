// Where the documentation site is, and what builds it. Its packages are its own: the relay runs without them.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './clone.mjs';

export const docs = join(root, 'docs');
export const vitepress = join(docs, 'node_modules', 'vitepress', 'bin', 'vitepress.js');

export function canBuildDocs() {
  return existsSync(vitepress);
}
