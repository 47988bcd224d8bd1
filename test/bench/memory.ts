import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Processes whose memory is added up. */
export interface ProcessGroup {
  name: string;
  pids: number[];
  /** Whether to count their descendants too. */
  withChildren: boolean;
  /** Counts only processes of this command. */
  onlyNamed?: string;
}

export interface MemoryUse {
  process: string;
  count: number;
  /** Resident memory. On Linux, pages that several processes share are divided among them. */
  megabytes: number;
}

interface ProcessRow {
  pid: number;
  parent: number;
  kilobytes: number;
  command: string;
}

/** How much memory each group uses now. */
export function memoryOf(groups: readonly ProcessGroup[]): MemoryUse[] {
  const rows = listProcesses();
  return groups
    .map((group) => {
      const members = membersOf(group, rows);
      const kilobytes = members.reduce((sum, row) => sum + (sharedOut(row.pid) ?? row.kilobytes), 0);
      return { process: group.name, count: members.length, megabytes: Math.round(kilobytes / 1024) };
    })
    .filter(({ count }) => count > 0);
}

/** The processes that belong to a group now. */
export function pidsOf(group: ProcessGroup): number[] {
  return membersOf(group, listProcesses()).map(({ pid }) => pid);
}

function listProcesses(): ProcessRow[] {
  const text = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,rss=,comm='], { encoding: 'utf8' });
  return text.split('\n').flatMap((line) => {
    const [pid, parent, kilobytes, command = ''] = line.trim().split(/\s+/);
    return pid ? [{ pid: Number(pid), parent: Number(parent), kilobytes: Number(kilobytes), command }] : [];
  });
}

function membersOf(group: ProcessGroup, rows: readonly ProcessRow[]): ProcessRow[] {
  const found = new Set(group.pids);
  for (let before = -1; group.withChildren && before !== found.size;) {
    before = found.size;
    for (const { pid, parent } of rows) if (found.has(parent)) found.add(pid);
  }
  const named = ({ command }: ProcessRow) => !group.onlyNamed || command.endsWith(group.onlyNamed);
  return rows.filter((row) => found.has(row.pid) && named(row));
}

/** The proportional set size, which counts the buffers that PostgreSQL's processes share only once. */
function sharedOut(pid: number): number | undefined {
  try {
    const match = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
    return match ? Number(match[1]) : undefined;
  } catch {
    return undefined;
  }
}
