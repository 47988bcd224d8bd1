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
