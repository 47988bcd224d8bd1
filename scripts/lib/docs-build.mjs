// Builds the documentation site, unless it is already built from the current sources and APIs.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describeControlPlane, describeGateway } from './api-documents.mjs';
import { apiPages } from './api-pages.mjs';
import { nodePath } from './bootstrap.mjs';
import { runToEnd } from './children.mjs';
import { root } from './clone.mjs';
import { builtDocs, docs, docsSources, rememberDocs, stateOfSources, vitepress } from './docs-site.mjs';
import { buildOnce } from './static-site.mjs';

const GATEWAY_ORIGIN = 'http://127.0.0.1:8787';

/**
 * @param {string} dist where the programs were built to
 * @param {string} [outDir] where the site goes
 * @throws Error if a page is wrong, or a link is broken
 */
export async function buildDocs(dist, outDir = join(dist, 'docs')) {
  // What changes during the build may not be included.
  const state = stateOfSources();
  const documents = await bothApis(dist);
  const site = { outDir, usual: builtDocs, stamp: stampOf(documents) };
  await buildOnce(site, async () => {
    await writeApiPages(dist, documents);
    run(['build', docs, '--outDir', outDir]);
  });
  rememberDocs(outDir, state);
}

/** Writes the API pages into docs/api, where git ignores them. Those that are right stay, since others may be reading them. */
export async function writeApiPages(dist, documents) {
  const { sampleOf } = await import(pathToFileURL(join(dist, 'test/support/schema-samples.js')).href);
  const folder = join(docs, 'api');
  const found = documents ?? (await bothApis(dist));
  const pages = new Map(Object.keys(found).flatMap((api) => [...apiPages(api, found, sampleOf)]));
  const before = readdirSync(folder).filter((name) => name !== 'index.md');
  for (const name of before) if (!pages.has(name.replace(/\.md$/, ''))) rmSync(join(folder, name));
  for (const [name, text] of pages) {
    const file = join(folder, `${name}.md`);
    if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
  }
}

/** The development server of the site, which follows its sources. @returns its exit code */
export function serveDocs(port) {
  return runToEnd(nodePath(), [vitepress, 'dev', docs, '--port', String(port)], { cwd: docs });
}

async function bothApis(dist) {
  return {
    gateway: await describeGateway(dist, GATEWAY_ORIGIN),
    'control-plane': await describeControlPlane(dist),
  };
}

function run(args) {
  const { status } = spawnSync(nodePath(), [vitepress, ...args], { cwd: docs, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('The documentation could not be built, see above.');
}

/** A hash of the pages, of what builds them and of both APIs. */
function stampOf(documents) {
  const hash = createHash('sha256').update(JSON.stringify(documents));
  const own = [
    'scripts/lib/api-pages.mjs',
    'scripts/lib/control-plane-examples.mjs',
    'test/support/schema-samples.ts',
  ].map((name) => join(root, name));
  for (const file of [...own, ...docsSources()]) hash.update(`${file}\0`).update(readFileSync(file));
  return hash.digest('hex');
}
