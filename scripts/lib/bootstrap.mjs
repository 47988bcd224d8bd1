// From a fresh clone to something that runs: install, build, the project's own Node. This file and its imports run on
// whatever Node the machine has, before anything is installed.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { runToEnd } from './children.mjs';
import { builtClient, fingerprint, giveUp, nodeFlags, pinnedNode, root, say } from './clone.mjs';
import { pagesAreBuilt } from './console-build.mjs';
import { installPackages, packagesAreMissing, withoutNpmRun } from './install.mjs';

/** What a build of the programs was made from. */
const STAMP = '.built-from';

/** What the build reads. */
const sources = [
  'apps',
  'libs',
  'test/support',
  'test/console/support',
  'test/bench',
  'scripts/build.mjs',
  'scripts/lib/bundle.mjs',
  '.swcrc',
  'package.json',
  'package-lock.json',
];

/**
 * Installs and builds what is missing; of several scripts at once, one does it.
 * @param {{ build?: boolean, development?: boolean }} options `development` also installs what checks and tests, and
 *   builds the pages of the console; without it there are the programs alone
 */
export async function prepare({ build = true, development = true } = {}) {
  const isReady = () => !packagesAreMissing({ development }) && !(build && buildIsNeeded({ development }));
  if (isReady()) return;
  await alone('bootstrap', () => {
    installPackages({ development });
    if (build && buildIsNeeded({ development })) buildNow({ development });
  });
}

/** Runs a built program under the project's Node. This process ends with its exit code. */
export async function runBuilt(entry, args) {
  process.exit(await runToEnd(nodePath(), [...nodeFlags, join(root, entry), ...args]));
}

/**
 * Makes sure that the rest of the script runs under the project's Node. If it does not, runs the script again and ends
 * with it.
 */
export async function underPinnedNode() {
  const node = nodePath();
  if (realpathSync(process.execPath) === realpathSync(node)) return;
  process.exit(await runToEnd(node, [...process.execArgv, ...process.argv.slice(1)]));
}

/** The project's Node; or the system's, if the package brought none and that one is new enough. */
export function nodePath() {
  if (existsSync(pinnedNode)) return pinnedNode;
  const [major] = process.versions.node.split('.').map(Number);
  if (major < 20) giveUp(`Tollgate needs Node 20.19 or newer; this is ${process.versions.node}.`);
  return process.execPath;
}

function buildIsNeeded({ development }) {
  if (development && !(existsSync(builtClient) && pagesAreBuilt())) return true;
  return readText(join(root, 'dist', STAMP)) !== builtFrom();
}

/** The state of the sources that a build reads. */
export function builtFrom() {
  return fingerprint(sources);
}

/** Records what a complete build was made from, so that it is not repeated. */
export function markBuilt(folder, stamp) {
  writeFileSync(join(folder, STAMP), stamp);
}

/** Called before a build, so that an interrupted one is repeated. */
export function unmarkBuilt(folder) {
  rmSync(join(folder, STAMP), { force: true });
}

/** Builds next to dist and then swaps the folders, so that files whose source is gone do not remain. */
function buildNow({ development }) {
  say('Building …');
  const fresh = join(root, 'dist.new');
  const old = join(root, 'dist.old');
  for (const folder of [fresh, old]) rmSync(folder, { recursive: true, force: true });
  const scope = development ? [] : ['--programs'];
  const result = spawnSync('npm', ['run', '--silent', 'build', '--', '--out-dir', 'dist.new', ...scope], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    env: withoutNpmRun(),
  });
  if (result.status !== 0 || !existsSync(fresh)) giveUp('The build failed, see above.');
  const pages = join(root, 'dist', 'console');
  if (!development && pagesAreBuilt()) renameSync(pages, join(fresh, 'console'));
  keepDocs(fresh);
  if (existsSync(join(root, 'dist'))) renameSync(join(root, 'dist'), old);
  renameSync(fresh, join(root, 'dist'));
  rmSync(old, { recursive: true, force: true });
}

/** The documentation is built while the relay runs, or by a separate command. Until then, keep the old one. */
function keepDocs(fresh) {
  const [before, after] = [join(root, 'dist', 'docs'), join(fresh, 'docs')];
  if (existsSync(before) && !existsSync(after)) renameSync(before, after);
}

/**
 * Runs `work` while no other script in this clone runs anything with this name. A lock whose holder is gone does not
 * count.
 */
export async function alone(name, work) {
  const lock = join(root, '.cache', `${name}.lock`);
  mkdirOrGiveUp(dirname(lock));
  while (!take(lock)) {
    removeDead(lock);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  try {
    await work();
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

/** Linked into place, so that a lock always names its holder. */
function take(lock) {
  const draft = `${lock}.${process.pid}`;
  try {
    writeFileSync(draft, String(process.pid));
    linkSync(draft, lock);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') giveUp(`The folder ${root} cannot be written: ${error.message}.`);
    return false;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Removes the lock of a holder that is gone. One script at a time does, or it could remove the lock of the next holder. */
function removeDead(lock) {
  if (!isDead(lock)) return;
  const removing = `${lock}.removing`;
  if (!take(removing)) {
    if (isDead(removing)) rmSync(removing, { force: true });
    return;
  }
  if (isDead(lock)) rmSync(lock, { force: true });
  rmSync(removing, { force: true });
}

function isDead(lock) {
  const holder = Number(readText(lock));
  return holder !== 0 && !isRunning(holder);
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
