// Builds the pages of the console, unless they are there as the sources have them now.
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { fingerprint, root, say } from './clone.mjs';
import { installConsolePackages } from './install.mjs';

/** What the pages are built from. */
const sources = ['apps/console'];
const STAMP = '.built-from';

/** JavaScript that the browser needs before the first page shows, compressed. People on slow lines wait for it. */
const INITIAL_LIMIT_BYTES = 250_000;
const COMPRESSED = /\.(js|css|html|svg|json)$/;
/** Better ones take many times as long for two per cent. */
const BROTLI_QUALITY = 9;

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
  const stamp = fingerprint(sources);
  const before = [outDir, builtPages].find((folder) => stampOf(folder) === stamp);
  if (before === outDir) return;
  rmSync(outDir, { recursive: true, force: true });
  if (before) {
    cpSync(before, outDir, { recursive: true });
    return;
  }
  installConsolePackages();
  const { build } = await loadVite();
  const configFile = join(root, 'apps', 'console', 'vite.config.ts');
  await build({ configFile, logLevel: 'warn', build: { outDir, emptyOutDir: true } });
  checkInitialSize(outDir);
  compress(outDir);
  writeFileSync(join(outDir, STAMP), stamp);
}

function stampOf(folder) {
  const file = join(folder, STAMP);
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

/** Vite's manifest tells what the entry imports; what it imports lazily comes when a page asks for it. */
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

/** Beside each file its compressed forms, which are served as they are. */
export function compress(folder) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !COMPRESSED.test(entry.name)) continue;
    const file = join(entry.parentPath, entry.name);
    const content = readFileSync(file);
    const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
    writeFileSync(`${file}.br`, brotliCompressSync(content, { params }));
    writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
  }
}
