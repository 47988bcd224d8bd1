import { setTimeout as pause } from 'node:timers/promises';

/** How much of the event loop work that is done in turns may take: after each piece it is free for as long again. */
const SHORTEST_PAUSE_MS = 1;

/**
 * Work that holds the event loop for some milliseconds, one piece at a time: between two of them others are served,
 * however many pieces are asked for at once.
 */
export class Turns {
  private last: Promise<unknown> = Promise.resolve();
  private pauseMs = 0;

  /** Does the work when it is its turn. @throws what the work throws */
  take<T>(work: () => T): Promise<T> {
    const turn = this.last.then(async () => {
      await pause(Math.max(SHORTEST_PAUSE_MS, this.pauseMs));
      const startedMs = performance.now();
      try {
        return work();
      } finally {
        this.pauseMs = performance.now() - startedMs;
      }
    });
    this.last = turn.catch(() => undefined);
    return turn;
  }
}
