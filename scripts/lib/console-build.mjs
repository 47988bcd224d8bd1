// Builds the pages of the console, unless they are there as the sources have them now.
import { readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { fingerprint, root, say } from './clone.mjs';
import { installConsolePackages } from './install.mjs';
import { buildOnce, stampOf } from './static-site.mjs';

/** What the pages are built from. */
const sources = ['apps/console'];

/** JavaScript that the browser needs before the first page shows, compressed. People on slow lines wait for it. */
const INITIAL_LIMIT_BYTES = 250_000;

/** Where programs look for the pages. */
export const builtPages = join(root, 'dist', 'console');

/** @returns whether the pages in dist/ are those of the sources */
export function pagesAreBuilt() {
  return stampOf(builtPages) === fingerprint(sources);
}

/** Vite, from the package of the pages. */
export async function loadVite() {
  const require = createRequire(join(root, 'apps', 'console', 'package.json'));
  return import(pathToFileURL(require.resolve('vite')).href);
}

/**
 * @param {string} outDir
 * @throws Error when the sources cannot be built, or have grown over the limit
 */
export async function buildConsole(outDir) {
  await buildOnce({ outDir, usual: builtPages, stamp: fingerprint(sources) }, async () => {
    installConsolePackages();
    const { build } = await loadVite();
    const configFile = join(root, 'apps', 'console', 'vite.config.ts');
    await build({ configFile, logLevel: 'warn', build: { outDir, emptyOutDir: true } });
    checkInitialSize(outDir);
  });
}

/** Vite's manifest names what the entry imports; what it imports lazily comes when a page asks for it. */
function checkInitialSize(outDir) {
  const manifestFile = join(outDir, '.vite', 'manifest.json');
  const manifest = JSON.parse(readFileSync(manifestFile, 'utf8'));
  const files = new Set();
  const visit = (key) => {
    const { file, imports = [] } = manifest[key];
    if (files.has(file)) return;
    files.add(file);
    imports.forEach(visit);
  };
  visit('index.html');
  const bytes = [...files].reduce(
    (sum, file) => sum + gzipSync(readFileSync(join(outDir, file)), { level: 9 }).length,
    0,
  );
  rmSync(join(outDir, '.vite'), { recursive: true });
  const size = `${Math.round(bytes / 1000)} kB of JavaScript, compressed`;
  if (bytes > INITIAL_LIMIT_BYTES)
    throw new Error(`The first page of the console loads ${size}: more than ${INITIAL_LIMIT_BYTES / 1000}.`);
  say(`The first page of the console loads ${size}.`);
}
