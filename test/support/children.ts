import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const SCRIPT = pathToFileURL(join(import.meta.dirname, '../../scripts/lib/children.mjs')).href;
const { guard } = (await import(SCRIPT)) as { guard: (pid: number, signal?: string) => () => void };

/** Has a server of a test end with this process, even a killed one. @returns what to call when it has ended before */
export function endWithThisProcess(pid: number): () => Promise<void> {
  // A database then ends all its processes at once.
  const lift = guard(pid, 'QUIT');
  return async () => lift();
}
