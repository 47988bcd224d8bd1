// From a fresh clone to something that runs: install, build, the project's own Node. This file and what it imports
// run on whatever Node the machine has, before anything is installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runToEnd } from './children.mjs';

export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

const pinnedNode = join(root, 'node_modules', 'node', 'bin', 'node');
/** Written by the build, for the pages. */
const builtClient = join(root, 'apps', 'console', 'api', 'schema.ts');
const stampFile = join(root, 'dist', '.built-from');

/** What the build reads. */
const sources = [
  'apps',
  'libs',
  'test/support',
  'test/console/support',
  'test/bench',
  '.swcrc',
  'package.json',
];

/** Says what goes on, on standard error: standard output belongs to the program. */
export function say(text) {
  process.stderr.write(`${text}\n`);
}

/** Ends the script with one sentence. */
export function giveUp(sentence) {
  say(sentence);
  process.exit(1);
}

/**
 * Installs from the lockfile and builds, each only if needed; of several scripts at once, one does it.
 * @param {{ build?: boolean }} options
 */
export async function prepare({ build = true } = {}) {
  const busy = () => installIsNeeded() || (build && buildIsNeeded());
  if (!busy()) return;
  await alone(() => {
    if (installIsNeeded()) install();
    if (build && buildIsNeeded()) buildNow();
  });
}

/** Prepares, then runs a built program under the project's Node; this process ends with its exit code. */
export async function runBuilt(entry, args) {
  await prepare();
  process.exit(await runToEnd(nodePath(), ['--enable-source-maps', join(root, entry), ...args]));
}

/** Makes sure that the rest of this script runs under the project's Node: else starts it again and ends with it. */
export async function underPinnedNode() {
  const node = nodePath();
  if (realpathSync(process.execPath) === realpathSync(node)) return;
  process.exit(await runToEnd(node, [...process.execArgv, ...process.argv.slice(1)]));
}

/** The project's Node; the system's where the package brought none and that one is new enough. */
export function nodePath() {
  if (existsSync(pinnedNode)) return pinnedNode;
  const [major] = process.versions.node.split('.').map(Number);
  if (major < 20) giveUp(`Tollgate needs Node 20.19 or newer; this is ${process.versions.node}.`);
  return process.execPath;
}

/** Compares what is installed with the lockfile by content: the times of files say nothing after a checkout. */
function installIsNeeded() {
  const installed = readJson(join(root, 'node_modules', '.package-lock.json'))?.packages;
  const wanted = readJson(join(root, 'package-lock.json'))?.packages;
  if (!wanted) giveUp('package-lock.json is missing or broken: take it from the repository again.');
  if (!installed) return true;
  return Object.entries(wanted).some(([path, { version, optional, link }]) => {
    if (path === '' || link) return false;
    const found = installed[path];
    return found ? found.version !== version : !optional;
  });
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function install() {
  say('Installing from the lockfile …');
  // Development dependencies too, whatever NODE_ENV says: they build and test.
  npm(['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']);
  if (existsSync(pinnedNode)) return;
  // With install scripts switched off the package of Node has not fetched its binary.
  npm(['rebuild', 'node', '--ignore-scripts=false', '--foreground-scripts'], { optional: true });
  if (!existsSync(pinnedNode)) say(`The project's own Node is not there; going on with ${process.version}.`);
}

function npm(args, { optional = false } = {}) {
  const result = spawnSync('npm', args, { cwd: root, stdio: ['ignore', 2, 2], env: withoutNpmRun() });
  if (result.error) giveUp(`npm cannot be run: ${result.error.message}.`);
  if (result.status !== 0 && !optional) giveUp(`\`npm ${args[0]}\` failed, see above.`);
}

/** An npm inside `npm start` must read its configuration itself, not inherit the outer one's flags. */
function withoutNpmRun() {
  const inherited = /^npm_(lifecycle|package|command|execpath|config_(omit|include|json|silent|loglevel))/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !inherited.test(name)));
}

function buildIsNeeded() {
  if (!existsSync(builtClient)) return true;
  try {
    return readFileSync(stampFile, 'utf8') !== fingerprint(sources);
  } catch {
    return true;
  }
}

/** A hash of the names and contents of files, without specs and texts about them: those are not built. */
export function fingerprint(paths) {
  const hash = createHash('sha256');
  for (const file of paths.flatMap((path) => filesUnder(join(root, path)))) {
    if (/\.spec\.ts$|\.md$/.test(file) || file === builtClient) continue;
    hash.update(relative(root, file)).update('\0').update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex');
}

function filesUnder(path) {
  if (!existsSync(path)) return [];
  try {
    return readdirSync(path)
      .sort()
      .flatMap((name) => (name === 'node_modules' ? [] : filesUnder(join(path, name))));
  } catch (error) {
    if (error.code === 'ENOTDIR') return [path];
    throw error;
  }
}

/** Builds beside dist and swaps the folders, so that files without a source any more do not stay behind. */
function buildNow() {
  say('Building …');
  const stamp = fingerprint(sources);
  const fresh = join(root, 'dist.new');
  const old = join(root, 'dist.old');
  for (const folder of [fresh, old]) rmSync(folder, { recursive: true, force: true });
  const result = spawnSync('npm', ['run', '--silent', 'build', '--', '--out-dir', 'dist.new'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    env: withoutNpmRun(),
  });
  if (result.status !== 0 || !existsSync(fresh)) giveUp('The build failed, see above.');
  writeFileSync(join(fresh, '.built-from'), stamp);
  if (existsSync(join(root, 'dist'))) renameSync(join(root, 'dist'), old);
  renameSync(fresh, join(root, 'dist'));
  rmSync(old, { recursive: true, force: true });
}

/** Runs `work` while no other script of this clone does; a lock whose holder is gone counts for nothing. */
async function alone(work) {
  const lock = join(root, '.cache', 'bootstrap.lock');
  mkdirOrGiveUp(dirname(lock));
  while (!take(lock)) {
    const holder = Number(readText(lock));
    if (holder && !isRunning(holder)) rmSync(lock, { force: true });
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  try {
    work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function mkdirOrGiveUp(folder) {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    giveUp(`The folder ${root} cannot be written: ${error.message}.`);
  }
}

function take(lock) {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') giveUp(`The folder ${root} cannot be written: ${error.message}.`);
    return false;
  }
}

function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
