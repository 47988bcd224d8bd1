// Builds the console's pages, unless they are already built from the current sources.
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { fingerprint, root, say } from './clone.mjs';
import { installConsolePackages } from './install.mjs';
import { buildOnce, stampOf } from './static-site.mjs';

/** What the pages are built from. */
const sources = ['apps/console'];

/** The limit on JavaScript that loads by itself on the pages where people arrive, including texts, compressed. */
const FIRST_PAGE_LIMIT_BYTES = 200_000;
/** Includes the parts that a page loads lazily but shows at once, and its text files. */
const FIRST_PAGES = {
  landing: {
    parts: ['visitor/landing/example-receipts.tsx', 'visitor/landing/model-wall.tsx'],
    texts: ['landing'],
  },
  'sign-in': {},
  'sign-up': {},
};
const LANGUAGES = ['en', 'zh'];

/** For all typefaces, which are compressed already. Chinese uses the system's. */
const FACES_LIMIT_BYTES = 100_000;

/** Where programs look for the pages. */
export const builtPages = join(root, 'dist', 'console');

/** @returns whether the pages in dist/ are built from the current sources */
export function pagesAreBuilt() {
  return stampOf(builtPages) === fingerprint(sources);
}

/** Vite, from the pages' own packages. */
export async function loadVite() {
  const require = createRequire(join(root, 'apps', 'console', 'package.json'));
  return import(pathToFileURL(require.resolve('vite')).href);
}

/**
 * @param {string} outDir
 * @throws Error if the sources cannot be built, or exceed a limit
 */
export async function buildConsole(outDir) {
  await buildOnce({ outDir, usual: builtPages, stamp: fingerprint(sources) }, async () => {
    installConsolePackages();
    const { build } = await loadVite();
    const configFile = join(root, 'apps', 'console', 'vite.config.ts');
    await build({ configFile, logLevel: 'warn', build: { outDir, emptyOutDir: true } });
    checkFirstPages(outDir);
    checkFaces(outDir);
  });
}

/** @throws Error if a page where people arrive exceeds the limit */
function checkFirstPages(outDir) {
  const manifestFolder = join(outDir, '.vite');
  const manifest = JSON.parse(readFileSync(join(manifestFolder, 'manifest.json'), 'utf8'));
  rmSync(manifestFolder, { recursive: true });
  for (const page of Object.keys(FIRST_PAGES)) {
    const bytes = LANGUAGES.map((language) => compressedSize(outDir, filesOf(manifest, { page, language })));
    const most = Math.max(...bytes);
    const size = `The console's ${page} page loads ${Math.round(most / 1000)} kB of JavaScript, compressed`;
    if (most > FIRST_PAGE_LIMIT_BYTES)
      throw new Error(
        `${size}: more than ${FIRST_PAGE_LIMIT_BYTES / 1000}. Import lazily what it can show without.`,
      );
    say(`${size}.`);
  }
}

/** @throws Error if the typefaces exceed the limit */
function checkFaces(outDir) {
  const folder = join(outDir, 'assets');
  const faces = readdirSync(folder).filter((name) => name.endsWith('.woff2'));
  const bytes = faces.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  const size = `The console's typefaces are ${faces.length} files of ${Math.round(bytes / 1000)} kB`;
  if (bytes > FACES_LIMIT_BYTES)
    throw new Error(`${size}: more than ${FACES_LIMIT_BYTES / 1000}. Take fewer letters, or fewer styles.`);
  say(`${size}.`);
}

/** Vite's manifest names what each part imports. Lazy imports load when they are shown. */
function filesOf(manifest, { page, language }) {
  const { parts = [], texts: ofPage = [] } = FIRST_PAGES[page];
  const texts = ['shell', 'visitor', ...ofPage].map((area) => `i18n/${language}/${area}.json`);
  const files = new Set();
  const visit = (part) => {
    const { file, imports = [] } = manifest[part];
    if (files.has(file)) return;
    files.add(file);
    imports.forEach(visit);
  };
  ['index.html', `visitor/${page}.page.tsx`, ...parts, ...texts].forEach(visit);
  return [...files];
}

function compressedSize(folder, files) {
  const sizes = files.map((file) => gzipSync(readFileSync(join(folder, file)), { level: 9 }).length);
  return sizes.reduce((sum, size) => sum + size, 0);
}
