import type { ChildProcess } from 'node:child_process';
import { messageOf } from './children.js';
import type { LoadOrder, LoadResult } from './gateway-bench.load.js';

/** The load generator's process. It takes one order at a time, and counts the images that the ledger must contain. */
export class Generator {
  billed = 0;

  constructor(readonly child: ChildProcess) {}

  /** @throws Error unless every answer was a 200 */
  async run(order: LoadOrder & { billed: boolean }): Promise<LoadResult> {
    const answer = messageOf<LoadResult>(this.child);
    this.child.send(order);
    const result = await answer;
    if (order.billed) this.billed += result.ok;
    if (result.ok !== result.sent) {
      const counts = JSON.stringify(result.failures);
      throw new Error(
        `${result.sent - result.ok} of ${result.sent} calls failed (${counts}): ${result.firstFailure}`,
      );
    }
    return result;
  }
}
