// Builds the pages of the console, then the documentation, in a process of its own, while the relay already answers.
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

/** Below the relay, which answers clients on the same cores. */
const PRIORITY = 10;

const file = fileURLToPath(import.meta.url);

/** Starts the build where the pages or the documentation are not those of the sources. It ends with this process at the latest. */
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
    // Running needs only what was built, so their packages go unless this clone is used for development.
    if (!hasDevelopmentPackages()) removeConsolePackages();
  }
}

async function buildSite() {
  if (docsAreBuilt()) return;
  say('Building the documentation …');
  const isOurs = installDocsPackages();
  try {
    // What it imports is there once the packages are: this file is also read before.
    const { buildDocs } = await import('./docs-build.mjs');
    await inPlaceOf(builtDocs, (fresh) => buildDocs(join(root, 'dist'), fresh));
    say('The documentation is ready, at /docs of the console.');
  } finally {
    if (isOurs && !hasDevelopmentPackages()) removeDocsPackages();
  }
}

/** Programs serve what is there, so it appears whole or not at all. */
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
