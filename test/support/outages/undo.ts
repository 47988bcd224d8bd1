/** Undoes everything, in reverse order, even if a signal arrives in the middle of a start. */
export class Undo {
  private readonly steps: (() => Promise<unknown>)[] = [];
  private undone: Promise<void> = Promise.resolve();
  private isOver = false;

  add(step: () => Promise<unknown>): void {
    this.steps.push(step);
  }

  /**
   * Starts something, and registers how to stop it before it has started.
   * @throws what the start threw, or Error if everything is already being undone
   */
  async during<T>(start: () => Promise<T>, end: (started: T) => Promise<unknown>): Promise<T> {
    if (this.isOver) throw new Error('everything was stopped');
    const started = start();
    this.add(async () => {
      const [result] = await Promise.allSettled([started]);
      // A start that failed has cleaned up after itself.
      if (result.status === 'fulfilled') await end(result.value);
    });
    return started;
  }

  /**
   * Undoes one step at a time, and lets no caller continue while another is still undoing.
   * @throws Error of the last step that failed, after running all of them
   */
  all(): Promise<void> {
    const undone = this.undone.then(() => this.undo());
    this.undone = undone.catch(() => undefined);
    return undone;
  }

  /** Nothing can be started any more. */
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
