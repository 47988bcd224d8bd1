/**
 * Named places where a crash test kills the process, as `kill -9` would: nothing is flushed, no handler runs.
 * CRASH_AT=name or name#3 (the third time). Without the variable a call costs one comparison.
 */
const [target, occurrence] = (process.env['CRASH_AT'] ?? '').split('#');
let remaining = Number(occurrence ?? 1);

export function crashPoint(name: string): void {
  if (target !== name) return;
  remaining -= 1;
  if (remaining === 0) process.kill(process.pid, 'SIGKILL');
}
