import { readFileSync } from 'node:fs';
import type { ProcessGroup } from './memory.js';

/** Linux counts processor time in ticks of this length, whatever its timer does. */
const TICKS_PER_SECOND = 100;

/** Processor time used by the named processes, in seconds; null if the system does not report it. */
export function cpuSecondsOf(groups: readonly ProcessGroup[]): number | null {
  try {
    const pids = new Set(groups.filter(({ withChildren }) => !withChildren).flatMap((group) => group.pids));
    return [...pids].reduce((sum, pid) => sum + ticksOf(pid) / TICKS_PER_SECOND, 0);
  } catch {
    return null;
  }
}

function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The program's name is in brackets and may contain spaces. User and system time are fields 14 and 15. The two after
  // them are those of children that have ended, such as a database server's connections.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
}
