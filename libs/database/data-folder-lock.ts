import { spawnSync } from 'node:child_process';
import { linkSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { OperatorError } from '#platform/errors.js';

/** A process, distinguished by its start time from a later one with the same id. */
export interface ProcessIdentity {
  pid: number;
  startedAt: string;
}

/** @returns undefined if there is no such process */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const startedAt = process.platform === 'linux' ? linuxStart(pid) : psStart(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

function linuxStart(pid: number): string | undefined {
  try {
    // The command's name, in brackets, may contain spaces, so fields are counted after it.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? undefined : fields[18];
  } catch {
    return undefined;
  }
}

function psStart(pid: number): string | undefined {
  return (
    spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim() || undefined
  );
}

export function isRunning(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.startedAt === identity.startedAt;
}

/**
 * Locks a data folder for this process with a lock file. A lock of a dead process is taken over. If several try, one
 * wins.
 * @returns a function that releases the folder
 * @throws OperatorError if a live process has it
 */
export function lockDataFolder(dataDir: string, lockFile: string): () => void {
  const self = identifyProcess(process.pid);
  const text = JSON.stringify(self);
  for (let attempt = 0; attempt < 10; attempt += 1) {
    if (createExclusively(lockFile, text)) return () => rmSync(lockFile, { force: true });
    const holder = readLock(lockFile);
    if (holder && isRunning(holder.identity)) {
      throw new OperatorError(
        `The data folder ${dataDir} is in use by another Tollgate (process ${holder.identity.pid}): stop it first, or choose another DATA_DIR.`,
      );
    }
    removeStale(lockFile, holder?.text);
  }
  throw new OperatorError(`Several processes are trying to use the data folder ${dataDir}. Try again.`);
}

function createExclusively(lockFile: string, text: string): boolean {
  // Written elsewhere and linked into place, so that nobody reads a half-written lock.
  const draft = `${lockFile}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  try {
    linkSync(draft, lockFile);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    unlinkSync(draft);
  }
}

function readLock(lockFile: string): { identity: ProcessIdentity; text: string } | undefined {
  try {
    const text = readFileSync(lockFile, 'utf8');
    return { identity: JSON.parse(text) as ProcessIdentity, text };
  } catch {
    return undefined;
  }
}

/** Moves the lock aside and checks it again, because another process may have replaced the stale one meanwhile. */
function removeStale(lockFile: string, staleText: string | undefined): void {
  const aside = `${lockFile}.stale.${process.pid}`;
  try {
    renameSync(lockFile, aside);
    if (readFileSync(aside, 'utf8') !== staleText && staleText !== undefined) linkSync(aside, lockFile);
  } catch {
    // Someone else was faster. The next attempt sees their lock.
  } finally {
    rmSync(aside, { force: true });
  }
}
