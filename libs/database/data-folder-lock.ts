import { spawnSync } from 'node:child_process';
import { linkSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { OperatorError } from '#platform/errors.js';

/** A process, distinguished by its start time from a later one with the same number. */
export interface ProcessIdentity {
  pid: number;
  startedAt: string;
}

/** @returns undefined when no such process runs. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const startedAt = process.platform === 'linux' ? linuxStart(pid) : psStart(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

function linuxStart(pid: number): string | undefined {
  try {
    // The command's name, in brackets, may hold blanks: count the fields after it.
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
 * Takes a data folder for this process by a lock file. A lock whose process is gone is taken over; of several that
 * try, one wins.
 * @returns a function that gives the folder back.
 * @throws OperatorError when a live process holds it.
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
  // Written aside and linked into place, so that nobody reads a lock that is half written.
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

/** Moves the lock aside and looks at it again: another process may have replaced the stale one in between. */
function removeStale(lockFile: string, staleText: string | undefined): void {
  const aside = `${lockFile}.stale.${process.pid}`;
  try {
    renameSync(lockFile, aside);
    if (readFileSync(aside, 'utf8') !== staleText && staleText !== undefined) linkSync(aside, lockFile);
  } catch {
    // Someone else was faster; the next attempt sees what they left.
  } finally {
    rmSync(aside, { force: true });
  }
}
