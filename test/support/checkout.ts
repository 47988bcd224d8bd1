import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Another commit of the project beside this one, installed and built by its own scripts. */
export interface Checkout {
  readonly commit: string;
  readonly root: string;
}

interface Lockfile {
  packages: Record<string, { version?: string; dev?: boolean; devOptional?: boolean }>;
}

/**
 * Makes what was at a commit, and its programs, in a folder that exists only when it is complete: whoever finds it need not
 * look twice. git notes nothing of it, so it can be deleted like any folder.
 * @throws Error when the commit is unknown, or does not install or build.
 */
export async function checkOut(ref: string, folder: string): Promise<Checkout> {
  const commit = (await git(['rev-parse', '--verify', `${ref}^{commit}`])).trim();
  const root = resolve(folder);
  if (existsSync(root)) return { commit, root };
  const fresh = `${root}.${process.pid}`;
  try {
    await writeFiles(commit, fresh);
    await buildIn(fresh);
    mkdirSync(dirname(root), { recursive: true });
    renameSync(fresh, root);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    // Another process was quicker.
    if (!existsSync(root)) throw error;
  }
  return { commit, root };
}

/** @returns what git prints. @throws Error with what it complained of */
export function git(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  return run('git', args, { env: { ...process.env, ...env }, stderr: 'pipe' });
}

/** By an index of its own: that of the clone belongs to who works in it. */
async function writeFiles(commit: string, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const index = `${folder}.index`;
  try {
    await git(['read-tree', commit], { GIT_INDEX_FILE: index });
    await git(['checkout-index', '--all', `--prefix=${folder}/`], { GIT_INDEX_FILE: index });
  } finally {
    rmSync(index, { force: true });
  }
}

async function buildIn(folder: string): Promise<void> {
  if (runsOn(lockfileOf(folder), lockfileOf(process.cwd()))) {
    // Its scripts would install into ours what they miss there: so they only build.
    symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
    await run(process.execPath, ['scripts/build.mjs', '--programs'], { cwd: folder });
  } else {
    await run(process.execPath, ['scripts/start.mjs', '--help'], { cwd: folder });
  }
}

function lockfileOf(root: string): Lockfile {
  return JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lockfile;
}

/** Whether ours has every package that its programs and their build use, in the same place and version. */
function runsOn(wanted: Lockfile, ours: Lockfile): boolean {
  return Object.entries(wanted.packages).every(
    ([path, { version, dev, devOptional }]) =>
      path === '' || dev || devOptional || ours.packages[path]?.version === version,
  );
}

interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Its progress goes to ours, unless it is kept for the error. */
  stderr?: 'inherit' | 'pipe';
}

/** @returns what it prints */
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
