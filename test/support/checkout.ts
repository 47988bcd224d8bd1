import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Another commit of this project, installed and built by its own scripts. */
export interface Checkout {
  readonly commit: string;
  readonly root: string;
}

/** The packages of a commit cannot be installed here, for example because no registry is reachable. */
export class NotInstalled extends Error {}

const BUILD = join('scripts', 'build.mjs');

/** The packages of a lockfile, by folder. */
export type Packages = Record<
  string,
  { version?: string; integrity?: string; dev?: boolean; optional?: boolean; devOptional?: boolean }
>;

/**
 * Checks out and builds a commit in a folder that appears only once it is complete. git does not record it, so it can
 * be deleted like any folder. Its modification time is when it was last used.
 * @throws NotInstalled, or Error if the commit is unknown or does not build
 */
export async function checkOut(ref: string, folder: string, clone = process.cwd()): Promise<Checkout> {
  const commit = (await git(['-C', clone, 'rev-parse', '--verify', `${ref}^{commit}`])).trim();
  const root = resolve(folder);
  removeLeftovers(dirname(root));
  if (!isUsable(root, clone)) await make(commit, root, clone);
  const now = new Date();
  utimesSync(root, now, now);
  return { commit, root };
}

async function make(commit: string, root: string, clone: string): Promise<void> {
  const fresh = `${root}.${process.pid}`;
  try {
    await writeFiles(commit, fresh, clone);
    await buildIn(fresh, commit, clone);
    // Another process may have been quicker, and may already use its result.
    if (isUsable(root, clone)) return;
    if (existsSync(root)) renameSync(root, `${fresh}.old`);
    renameSync(fresh, root);
  } catch (error) {
    if (!isUsable(root, clone)) throw error;
  } finally {
    for (const left of [fresh, `${fresh}.old`]) rmSync(left, { recursive: true, force: true });
  }
}

/** Left by processes that were killed. The names end with the process ID. */
function removeLeftovers(folder: string): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const pid = /\.(\d+)(\.index|\.old)?$/.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid)))
      rmSync(join(folder, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** A checkout that uses our packages is usable until ours change. */
function isUsable(root: string, clone: string): boolean {
  const packages = join(root, 'node_modules');
  if (!existsSync(packages)) return false;
  return !lstatSync(packages).isSymbolicLink() || runsOn(packagesOf(root), installedIn(clone));
}

/** @returns git's output. @throws Error with git's complaint */
export function git(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  return run('git', args, { env: { ...process.env, ...env }, stderr: 'pipe' });
}

/** Uses a separate index, since the clone's belongs to the person working in it. */
async function writeFiles(commit: string, folder: string, clone: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const index = `${folder}.index`;
  try {
    await git(['-C', clone, 'read-tree', commit], { GIT_INDEX_FILE: index });
    await git(['-C', clone, 'checkout-index', '--all', `--prefix=${folder}/`], { GIT_INDEX_FILE: index });
  } finally {
    rmSync(index, { force: true });
  }
}

async function buildIn(folder: string, commit: string, clone: string): Promise<void> {
  if (runsOn(packagesOf(folder), installedIn(clone))) {
    // Its scripts would install missing packages into ours, so they only build.
    symlinkSync(join(clone, 'node_modules'), join(folder, 'node_modules'));
  } else {
    await run('npm', ['ci', ...(knowsPrograms(folder) ? ['--omit=dev'] : []), '--loglevel=error'], {
      cwd: folder,
      stderr: 'pipe',
    }).catch((error: Error) => {
      throw new NotInstalled(`the packages of ${commit} cannot be installed: ${error.message}`);
    });
  }
  const build = [BUILD, ...(knowsPrograms(folder) ? ['--programs'] : [])];
  await run(process.execPath, build, { cwd: folder, stderr: 'pipe' }).catch((error: Error) => {
    throw new Error(`${commit} cannot be built: ${error.message}`);
  });
}

/** Old commits always build the console too, which needs development packages. */
function knowsPrograms(folder: string): boolean {
  return readFileSync(join(folder, BUILD), 'utf8').includes('--programs');
}

function packagesOf(root: string): Packages {
  return readPackages(join(root, 'package-lock.json'));
}

/** What is installed, not what our lockfile asks for. */
function installedIn(clone: string): Packages {
  const file = join(clone, 'node_modules', '.package-lock.json');
  return existsSync(file) ? readPackages(file) : {};
}

function readPackages(file: string): Packages {
  return (JSON.parse(readFileSync(file, 'utf8')) as { packages: Packages }).packages;
}

/**
 * Whether every package that a commit's programs and build need is installed in the same place with the same content,
 * and no package contains another one that shadows them. Optional packages may be for other machines.
 */
export function runsOn(wanted: Packages, installed: Packages): boolean {
  const used = Object.entries(wanted).filter(([path, { dev }]) => path !== '' && !dev);
  const isSame = ([path, { version, integrity, optional, devOptional }]: (typeof used)[number]) => {
    const found = installed[path];
    if (!found) return Boolean(optional || devOptional);
    return found.version === version && found.integrity === integrity;
  };
  const paths = new Set(used.map(([path]) => path));
  const isForeign = (path: string) =>
    paths.has(path.slice(0, Math.max(0, path.lastIndexOf('/node_modules/')))) && !paths.has(path);
  return used.every(isSame) && !Object.keys(installed).some(isForeign);
}

interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Progress is printed, unless it is kept for the error. */
  stderr?: 'inherit' | 'pipe';
}

/** @returns its output */
async function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { cwd, env = process.env, stderr = 'inherit' } = options;
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', stderr] });
  let [output, complaint] = ['', ''];
  child.stdout!.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}. ${complaint}`.trim());
  return output;
}
