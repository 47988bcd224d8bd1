// Builds the console's pages, then the documentation, in a separate process while the relay already serves requests.
import { spawn } from 'node:child_process';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { alone, nodePath } from './bootstrap.mjs';
import { guard } from './children.mjs';
import { root, say } from './clone.mjs';
import { buildConsole, builtPages, pagesAreBuilt } from './console-build.mjs';
import { builtDocs, docsAreBuilt } from './docs-site.mjs';
import {
  hasDevelopmentPackages,
  installDocsPackages,
  removeConsolePackages,
  removeDocsPackages,
} from './install.mjs';

/** Lower than the relay's, which serves clients on the same cores. */
const PRIORITY = 10;

const file = fileURLToPath(import.meta.url);

/** Starts a build if the pages or the documentation are outdated. It ends with this process at the latest. */
export function buildPagesMeanwhile() {
  if (pagesAreBuilt() && docsAreBuilt()) return;
  const child = spawn(nodePath(), [file], { cwd: root, stdio: ['ignore', 2, 2], detached: true });
  const end = () => {
    try {
      process.kill(-child.pid, 'SIGTERM');
    } catch {
      // It has ended already.
    }
  };
  const lift = guard(child.pid, 'TERM');
  process.once('exit', end);
  child.once('exit', () => {
    lift();
    process.off('exit', end);
  });
  child.once('error', (error) => say(`The pages of the console were not built: ${error.message}`));
  child.unref();
}

async function buildPages() {
  if (pagesAreBuilt()) return;
  say('Building the pages of the console …');
  try {
    await inPlaceOf(builtPages, buildConsole);
    say('The console is ready.');
  } finally {
    // Running needs only the result, so remove the packages unless this clone is used for development.
    if (!hasDevelopmentPackages()) removeConsolePackages();
  }
}

async function buildSite() {
  if (docsAreBuilt()) return;
  say('Building the documentation …');
  const isOurs = installDocsPackages();
  try {
    // Imported here, since its packages may not be installed when this file loads.
    const { buildDocs } = await import('./docs-build.mjs');
    await inPlaceOf(builtDocs, (fresh) => buildDocs(join(root, 'dist'), fresh));
    say('The documentation is ready, at /docs of the console.');
  } finally {
    if (isOurs && !hasDevelopmentPackages()) removeDocsPackages();
  }
}

/** Programs serve what exists, so it has to appear whole or not at all. */
async function inPlaceOf(folder, work) {
  const fresh = join(root, '.cache', `${basename(folder)}.new`);
  mkdirSync(dirname(fresh), { recursive: true });
  try {
    await work(fresh);
    rmSync(folder, { recursive: true, force: true });
    renameSync(fresh, folder);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

async function attempt(what, { again, work }) {
  try {
    await alone('pages', work);
  } catch (error) {
    say(`${what} not built: ${error.message}\nTry again with ${again}.`);
    process.exitCode = 1;
  }
}

if (process.argv[1] === file) {
  setPriority(PRIORITY);
  await attempt('The pages of the console were', { again: 'npm run build', work: buildPages });
  await attempt('The documentation was', { again: 'npm run docs -- --build', work: buildSite });
}
