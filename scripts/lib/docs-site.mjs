// Where the documentation site is, what builds it, and whether it is built. Its packages are its own: the relay runs without
// them.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fingerprint, root } from './clone.mjs';

export const docs = join(root, 'docs');
export const vitepress = join(docs, 'node_modules', 'vitepress', 'bin', 'vitepress.js');
/** Where programs look for the site. */
export const builtDocs = join(root, 'dist', 'docs');

/** The sources that the site was built from last, beside the stamp of what is in it: to compare them takes no program. */
const SEEN = '.seen-sources';
/** Both APIs follow from the programs. */
const sources = ['apps', 'libs', 'scripts/lib', 'test/support/schema-samples.ts'];

export function canBuildDocs() {
  return existsSync(vitepress);
}

/** @returns whether the site in dist/ is that of the sources */
export function docsAreBuilt() {
  const file = join(builtDocs, SEEN);
  return existsSync(file) && readFileSync(file, 'utf8') === stateOfSources();
}

/** Remembers that a folder has the site of the sources as they were when its build began. */
export function rememberDocs(folder, state) {
  writeFileSync(join(folder, SEEN), state);
}

export function stateOfSources() {
  const hash = createHash('sha256').update(fingerprint(sources));
  for (const file of docsSources()) hash.update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

/** The texts and what draws them, without the pages that a build writes among them. */
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
