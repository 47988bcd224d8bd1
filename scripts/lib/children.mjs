// Child processes of the scripts: signals and exit codes pass through, and none outlives a script that is killed.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/**
 * Sends a process a signal should this one die without doing so itself: a shell waits on a pipe that only the end of
 * this process closes.
 * @returns a function that lifts the guard; call it once the process is gone, before its number is used again.
 */
export function guard(pid, signal = 'KILL') {
  const script = 'read -r _; [ $? -eq 0 ] || kill -s "$1" "$2" 2>/dev/null';
  const watcher = spawn('/bin/sh', ['-c', script, 'sh', signal, String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // A line on the pipe means that all is well, its closing that this process is dead.
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
 * Runs a program in a process group of its own, which gets each signal once, and resolves to its exit code.
 * When npm started this script and is killed, the program is killed too, so that a new start finds the ports free.
 * (The scripts of package.json say `exec`, so that npm is this process's parent and its signals come here.)
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

/** Resolves to the exit code a shell would show. Rejects when the program cannot be started. */
export function exitOf(child) {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
}
