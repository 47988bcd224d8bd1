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

/**
 * Runs work that can undo what it began. At the first signal, its next `proceed` throws. A second one ends the process.
 * @throws Interrupted
 */
export async function interruptible<T>(
  work: (proceed: () => void) => Promise<T>,
  kept = 'nothing was kept',
): Promise<T> {
  let isStopped = false;
  const stop = () => {
    isStopped = true;
  };
  for (const signal of SIGNALS) process.once(signal, stop);
  try {
    return await work(() => {
      if (isStopped) throw new Interrupted(kept);
    });
  } catch (error) {
    throw isStopped ? new Interrupted(kept) : error;
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
    if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal]);
  };
  // Before those that are called once, and are gone after that.
  for (const signal of SIGNALS) process.prependListener(signal, exit);
  try {
    return await work();
  } finally {
    for (const signal of SIGNALS) process.off(signal, exit);
  }
}
