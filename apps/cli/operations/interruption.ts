import { constants } from 'node:os';
import { OperatorError } from '#platform/errors.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The work was stopped with Ctrl-C or a signal. What it had begun was undone. */
export class Interrupted extends OperatorError {
  /** @param kept what remains of it */
  constructor(kept: string) {
    super(`Stopped before the end: ${kept}.`);
  }
}

/** Within this time, a signal is an echo: Ctrl-C reaches a command directly, and again through npx and the launcher. */
const ECHO_MS = 1_000;

/**
 * Runs work that can undo what it began. At the first signal, its next `proceed` throws. A later one ends the process.
 * @throws Interrupted
 */
export async function interruptible<T>(
  work: (proceed: () => void) => Promise<T>,
  kept = 'nothing was kept',
): Promise<T> {
  let stoppedAtMs: number | undefined;
  const stop = (signal: NodeJS.Signals) => {
    stoppedAtMs ??= performance.now();
    if (performance.now() - stoppedAtMs > ECHO_MS) exitBy(signal);
  };
  for (const signal of SIGNALS) process.on(signal, stop);
  try {
    return await work(() => {
      if (stoppedAtMs !== undefined) throw new Interrupted(kept);
    });
  } catch (error) {
    throw stoppedAtMs === undefined ? error : new Interrupted(kept);
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop);
  }
}

/**
 * Runs work that leaves something behind if a signal kills the process. A signal makes it exit instead, so that what it started
 * is ended with it, unless the work stops by itself at this signal.
 */
export async function exitingAtSignals<T>(work: () => Promise<T>): Promise<T> {
  const exit = (signal: NodeJS.Signals) => {
    // Only this one listens.
    if (process.listenerCount(signal) === 1) exitBy(signal);
  };
  for (const signal of SIGNALS) process.on(signal, exit);
  try {
    return await work();
  } finally {
    for (const signal of SIGNALS) process.off(signal, exit);
  }
}

function exitBy(signal: NodeJS.Signals): never {
  process.exit(128 + constants.signals[signal]);
}
