import { setTimeout as pause } from 'node:timers/promises';

/** How much of the event loop work that is done in turns may take: after each piece it is free for as long again. */
const SHORTEST_PAUSE_MS = 1;

/**
 * Work that holds the event loop for some milliseconds, one piece at a time: between two of them others are served,
 * however many pieces are asked for at once. Members take turns, so one with much to do keeps another waiting for one piece.
 */
export class Turns {
  /** What each member waits for. The member whose turn is next comes first. */
  private readonly waiting = new Map<string, (() => void)[]>();
  private isAtWork = false;
  private pauseMs = SHORTEST_PAUSE_MS;

  /** Does the work when it is its turn. @throws what the work throws */
  take<T>(member: string, work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const pieces = this.waiting.get(member) ?? [];
      this.waiting.set(member, pieces);
      // What the work throws fails its promise, and not the turns of others.
      pieces.push(() => {
        try {
          resolve(work());
        } catch (error) {
          // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- whatever it is
          reject(error);
        }
      });
      if (!this.isAtWork) void this.doAll();
    });
  }

  private async doAll(): Promise<void> {
    this.isAtWork = true;
    // A member that is added again while the loop runs comes last.
    for (const [member, pieces] of this.waiting) {
      await pause(this.pauseMs);
      const startedMs = performance.now();
      pieces.shift()?.();
      this.pauseMs = Math.max(SHORTEST_PAUSE_MS, performance.now() - startedMs);
      this.waiting.delete(member);
      if (pieces.length > 0) this.waiting.set(member, pieces);
    }
    this.isAtWork = false;
  }
}
