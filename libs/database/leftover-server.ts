import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { OperatorError } from '#platform/errors.js';
import type { Logger } from '#platform/logging.js';
import { identifyProcess, isRunning } from './data-folder-lock.js';

/** How long a fast stop may take before the server must stop immediately (it recovers at its next start). */
export const STOP_TIMEOUT_MS = 30_000;

/** The server on this folder, from its own pid file, if that process really is a server in this folder. */
export function leftoverPid(pgdata: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(pgdata, 'postmaster.pid'), 'utf8').split('\n')[0]);
    return Number.isInteger(pid) && pid > 1 && worksIn(pid, pgdata) ? pid : undefined;
  } catch {
    return undefined;
  }
}

function worksIn(pid: number, pgdata: string): boolean {
  if (process.platform === 'linux') {
    const name = readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
    return name === 'postgres' && readlinkSync(`/proc/${pid}/cwd`) === realpathSync(pgdata);
  }
  const command = spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout;
  return command.includes('postgres') && command.includes(pgdata);
}

/**
 * After a reboot, the process id in the pid file may belong to another process, which the server would mistake for its
 * predecessor. It ignores the id of its parent, and still checks the rest of the file, which names its shared memory.
 */
function disownStranger(pgdata: string): void {
  const file = join(pgdata, 'postmaster.pid');
  if (!existsSync(file)) return;
  const [pid, ...rest] = readFileSync(file, 'utf8').split('\n');
  if (identifyProcess(Number(pid))) writeFileSync(file, [process.pid, ...rest].join('\n'));
}

/** Stops the server that a killed predecessor left on the folder. @throws OperatorError */
export async function stopLeftover(pgdata: string, log: Pick<Logger, 'warn'>): Promise<void> {
  const pid = leftoverPid(pgdata);
  const identity = pid === undefined ? undefined : identifyProcess(pid);
  if (!identity) return disownStranger(pgdata);
  log.warn({ pid }, 'stopping the database server that an earlier run left behind');
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    process.kill(identity.pid, signal);
    const deadline = performance.now() + STOP_TIMEOUT_MS;
    while (isRunning(identity) && performance.now() < deadline) await pause(20);
    if (!isRunning(identity)) return;
  }
  throw new OperatorError(
    `The database server of an earlier run (process ${identity.pid}) does not stop. Stop it yourself.`,
  );
}
