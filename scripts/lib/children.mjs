// Child processes of scripts: signals and exit codes pass through, and no child survives a killed script.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/**
 * Sends a process a signal if this one dies without doing so itself: a shell waits for a pipe that closes only when
 * this process ends.
 * @returns a function that lifts the guard. Call it once the process is gone, before its ID is reused.
 */
export function guard(pid, signal = 'KILL') {
  const script = 'read -r _; [ $? -eq 0 ] || kill -s "$1" "$2" 2>/dev/null';
  const watcher = spawn('/bin/sh', ['-c', script, 'sh', signal, String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // A line on the pipe means that all is well. If it just closes, this process is dead.
  watcher.stdin.on('error', () => undefined);
  watcher.on('error', () => undefined);
  watcher.unref();
  watcher.stdin.unref?.();
  return () => watcher.stdin.end('\n');
}

/** A repeat within this time is the same Ctrl-C: a terminal sends it to everyone, and npm passes it on once more. */
const SAME_SIGNAL_MS = 1_000;

const passedOn = ['SIGHUP', 'SIGINT', 'SIGTERM'];

/**
 * Runs a program in a separate process group, which gets each signal once. Resolves to its exit code. If npm started
 * this script and is killed, so is the program, so that a new start finds the ports free. (The scripts in package.json
 * say `exec`, so that npm is this process's parent and its signals arrive here.)
 */
export async function runToEnd(command, args, options = {}) {
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], ...options, detached: true });
  const lift = guard(child.pid ?? 0);
  const passOn = passSignalsOn(child);
  const watch = killWithNpm(child);
  try {
    return await exitOf(child);
  } finally {
    lift();
    passOn.stop();
    clearInterval(watch);
  }
}

function passSignalsOn(child) {
  let lastAt = -Infinity;
  const handlers = passedOn.map((signal) => {
    const handler = () => {
      if (performance.now() - lastAt < SAME_SIGNAL_MS) return;
      lastAt = performance.now();
      child.kill(signal);
    };
    process.on(signal, handler);
    return [signal, handler];
  });
  return { stop: () => handlers.forEach(([signal, handler]) => process.off(signal, handler)) };
}

function killWithNpm(child) {
  if (!process.env.npm_lifecycle_event) return undefined;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid !== parent) child.kill('SIGKILL');
  }, 250);
  watch.unref();
  return watch;
}

/** Resolves to the exit code that a shell would show. Rejects if the program cannot be started. */
export function exitOf(child) {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
}
