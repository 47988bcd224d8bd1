// Where the documentation site is, what builds it, and whether it is built. It has its own packages, since the relay
// runs without them.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fingerprint, root } from './clone.mjs';

export const docs = join(root, 'docs');
export const vitepress = join(docs, 'node_modules', 'vitepress', 'bin', 'vitepress.js');
/** Where programs look for the site. */
export const builtDocs = join(root, 'dist', 'docs');

/**
 * The state of the sources that the site was last built from, next to the stamp of its content. Comparing them needs no
 * program.
 */
const SEEN = '.seen-sources';
/** Both APIs follow from the programs. */
const sources = ['apps', 'libs', 'scripts/lib', 'test/support/schema-samples.ts'];

export function canBuildDocs() {
  return existsSync(vitepress);
}

/** @returns whether the site in dist/ is built from the current sources */
export function docsAreBuilt() {
  const file = join(builtDocs, SEEN);
  return existsSync(file) && readFileSync(file, 'utf8') === stateOfSources();
}

/** Records that a folder has the site of the sources as they were when its build began. */
export function rememberDocs(folder, state) {
  writeFileSync(join(folder, SEEN), state);
}

export function stateOfSources() {
  const hash = createHash('sha256').update(fingerprint(sources));
  for (const file of docsSources()) hash.update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

/** The texts and what renders them, except for the pages that a build writes among them. */
export function docsSources(folder = docs) {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (['node_modules', 'cache', 'dist'].includes(entry.name)) return [];
      if (entry.isDirectory()) return docsSources(path);
      return path.startsWith(join(docs, 'api')) && entry.name !== 'index.md' ? [] : [path];
    });
}
