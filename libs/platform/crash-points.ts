import { readFileSync, unlinkSync } from 'node:fs';

/**
 * Named places where a crash test kills the process, like `kill -9`: nothing is flushed, no handler runs.
 * CRASH_AT=name, or name#3 (the third time), arms this process from its start. CRASH_FILE=path names a file whose text
 * arms every process that shares it, as soon as it exists. The first to arrive removes the file and dies, so the
 * process that replaces it survives. Without the variables, a call costs two comparisons.
 */
const crashAt = process.env['CRASH_AT'];
const crashFile = process.env['CRASH_FILE'];
const visits = new Map<string, number>();

export function crashPoint(name: string): void {
  if (crashAt !== undefined && isReached(crashAt, name)) die();
  if (crashFile !== undefined && isReached(orderIn(crashFile), name) && isTaken(crashFile)) die();
}

function isReached(order: string, name: string): boolean {
  const [target, occurrence = '1'] = order.split('#');
  if (target !== name) return false;
  const count = (visits.get(order) ?? 0) + 1;
  visits.set(order, count);
  return count % Number(occurrence) === 0;
}

function orderIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}

/** If several processes arrive together, one of them can remove the file. */
function isTaken(file: string): boolean {
  try {
    unlinkSync(file);
    return true;
  } catch {
    return false;
  }
}

function die(): void {
  process.kill(process.pid, 'SIGKILL');
}
