import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const SCRIPT = pathToFileURL(join(import.meta.dirname, '../../scripts/lib/children.mjs')).href;
const { guard } = (await import(SCRIPT)) as { guard: (pid: number, signal?: string) => () => void };

/**
 * Has a process of a test end with this one, even where this one is killed.
 * @param signal `QUIT` has a database end all its processes at once
 * @returns what to call when it has ended before
 */
export function endWithThisProcess(pid: number, signal: 'QUIT' | 'TERM'): () => Promise<void> {
  const lift = guard(pid, signal);
  return async () => lift();
}
