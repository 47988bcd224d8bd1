// Installs packages from the lockfiles: those that the programs need to run, and for working on Tollgate also what
// checks, tests and builds the pages. Runs on whatever Node the machine has.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { giveUp, pinnedNode, root, say } from './clone.mjs';
import { removeUnused } from './unused.mjs';

/** The pages and the documentation have their own packages, which only their builds need. */
const consoleFolder = join(root, 'apps', 'console');
const docsFolder = join(root, 'docs');

const packagesFolder = join(root, 'node_modules');

/**
 * Installs the programs' packages if any is missing.
 * @param {{ development: boolean }} options whether to include those for working on Tollgate
 */
export function installPackages({ development }) {
  if (packagesAreMissing({ development })) {
    say('Installing from the lockfile …');
    // An install for development stays one. Existing packages are kept, since a relay may be running from them.
    const scope = development || hasDevelopmentPackages() ? '--include=dev' : '--omit=dev';
    npm(existsSync(packagesFolder) ? ['install', '--no-save', scope] : ['ci', scope]);
    installNode();
    removeUnused(packagesFolder);
  }
  if (development) installConsolePackages();
}

/** @returns whether a package is missing, or has another version than the lockfile says */
export function packagesAreMissing({ development }) {
  return isIncomplete(root, { development }) || (development && isIncomplete(consoleFolder));
}

/** @returns whether this installed them, so that the caller can remove them again */
export function installConsolePackages() {
  if (!isIncomplete(consoleFolder)) return false;
  say('Installing what builds the pages of the console …');
  npm(['ci'], { cwd: consoleFolder });
  return true;
}

/**
 * @returns whether this installed them, so that the caller can remove them again
 * @throws Error if npm fails
 */
export function installDocsPackages() {
  if (!isIncomplete(docsFolder)) return false;
  say('Installing what builds the documentation …');
  // npm would omit them if NODE_ENV is production, which Vite leaves behind.
  npm(['ci', '--include=dev', '--ignore-scripts'], { cwd: docsFolder, optional: true });
  if (isIncomplete(docsFolder))
    throw new Error('The packages of the documentation could not be installed, see above.');
  return true;
}

export function removeDocsPackages() {
  rmSync(join(docsFolder, 'node_modules'), { recursive: true, force: true });
}

export function removeConsolePackages() {
  rmSync(join(consoleFolder, 'node_modules'), { recursive: true, force: true });
}

/** An npm inside `npm start` must read its own configuration, rather than inherit the outer one's flags. */
export function withoutNpmRun() {
  const inherited = /^npm_(lifecycle|package|command|execpath|config_(omit|include|json|silent|loglevel))/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !inherited.test(name)));
}

/** Compares what is installed with the lockfile by content, since file times mean nothing after a checkout. */
function isIncomplete(folder, { development = true } = {}) {
  const wanted = readJson(join(folder, 'package-lock.json'))?.packages;
  if (!wanted) giveUp('package-lock.json is missing or broken: take it from the repository again.');
  const installed = readJson(join(folder, 'node_modules', '.package-lock.json'))?.packages;
  if (!installed) return true;
  return Object.entries(wanted).some(([path, { version, optional, link, dev, devOptional }]) => {
    if (path === '' || link || ((dev || devOptional) && !development)) return false;
    const found = installed[path];
    return found ? found.version !== version : !optional;
  });
}

export function hasDevelopmentPackages() {
  return existsSync(join(packagesFolder, 'vitest'));
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function installNode() {
  if (existsSync(pinnedNode)) return;
  // With install scripts switched off, the Node package has not downloaded its binary.
  npm(['rebuild', 'node', '--ignore-scripts=false', '--foreground-scripts'], { optional: true });
  if (!existsSync(pinnedNode))
    say(`The project's own Node could not be installed; continuing with ${process.version}.`);
}

function npm(args, { cwd = root, optional = false } = {}) {
  const options = ['--no-audit', '--no-fund', '--loglevel=error'];
  const result = spawnSync('npm', [...args, ...options], {
    cwd,
    // Its summary may come after the relay has said that it is ready.
    stdio: ['ignore', 'ignore', 2],
    env: withoutNpmRun(),
  });
  if (result.error) giveUp(`npm cannot be run: ${result.error.message}.`);
  if (result.status !== 0 && !optional) giveUp(`\`npm ${args[0]}\` failed, see above.`);
}
