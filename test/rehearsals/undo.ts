/** What has to be undone, in the opposite order, also when a signal ends the rehearsal in the middle of a start. */
export class Undo {
  private readonly steps: (() => Promise<unknown>)[] = [];
  private undone: Promise<void> = Promise.resolve();
  private isOver = false;

  add(step: () => Promise<unknown>): void {
    this.steps.push(step);
  }

  /**
   * Starts something, whose end is noted before it has started.
   * @throws what the start threw, and Error when all is over already
   */
  async during<T>(start: () => Promise<T>, end: (started: T) => Promise<unknown>): Promise<T> {
    if (this.isOver) throw new Error('the rehearsal was stopped');
    const started = start();
    this.add(async () => {
      const [result] = await Promise.allSettled([started]);
      // What did not start has cleaned up itself.
      if (result.status === 'fulfilled') await end(result.value);
    });
    return started;
  }

  /** One at a time, so that nobody goes on while another still undoes. @throws Error of the last step that failed; the others are done all the same */
  all(): Promise<void> {
    const undone = this.undone.then(() => this.undo());
    this.undone = undone.catch(() => undefined);
    return undone;
  }

  /** Nothing is started any more. */
  stop(): Promise<void> {
    this.isOver = true;
    return this.all();
  }

  private async undo(): Promise<void> {
    let failure: Error | undefined;
    for (let step = this.steps.pop(); step; step = this.steps.pop()) {
      await step().catch((error: Error) => (failure = error));
    }
    if (failure) throw failure;
  }
}
