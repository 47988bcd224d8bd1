import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const SCRIPT = pathToFileURL(join(import.meta.dirname, '../../scripts/lib/children.mjs')).href;
const { guard } = (await import(SCRIPT)) as { guard: (pid: number, signal?: string) => () => void };

/**
 * Ends a test's process when this process ends, even if this one is killed.
 * @param signal `QUIT` makes a database end all its processes at once
 * @returns a function to call if the test's process has already ended
 */
export function endWithThisProcess(pid: number, signal: 'QUIT' | 'TERM'): () => Promise<void> {
  const lift = guard(pid, signal);
  return async () => lift();
}

/** Sends the signal and waits for the child to end, unless it has ended already. */
export async function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}
