import { execFileSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';

/** Longer than a call waits for the database here. */
const SILENCE_MS = 3_000;

/** Ends the connections of all programs, as a network that drops them would. The server keeps running. */
export function cutConnections(serverPid: number): void {
  signal(childrenOf(serverPid, /^postgres: tollgate_/), 'SIGTERM');
}

/** Connections to the server are accepted, and nothing is answered for a while. */
export async function silence(serverPid: number): Promise<void> {
  const processes = [serverPid, ...childrenOf(serverPid, /^postgres: /)];
  signal(processes, 'SIGSTOP');
  try {
    await pause(SILENCE_MS);
  } finally {
    signal(processes, 'SIGCONT');
  }
}

function childrenOf(pid: number, title: RegExp): number[] {
  const lines = execFileSync('ps', ['--ppid', String(pid), '-o', 'pid=,args='], { encoding: 'utf8' });
  return lines
    .split('\n')
    .map((line) => /^\s*(\d+) (.*)$/.exec(line))
    .flatMap((match) => (match && title.test(match[2]!) ? [Number(match[1])] : []));
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch (error) {
      // It has ended in the meantime.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}
