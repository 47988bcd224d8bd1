import { untraced } from '#platform/tracing.js';

interface Entry<T> {
  item: T;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * Processes items in rounds: those that arrive during one round are gathered for the next. There is no timer, so a lone
 * item is processed at once. Rounds never overlap, which keeps the order of the items.
 */
export class Gathering<T> {
  private waiting: Entry<T>[] = [];
  private running: Promise<void> | undefined;

  constructor(
    private readonly maxPerRound: number,
    private readonly work: (items: T[]) => Promise<unknown>,
  ) {}

  get size(): number {
    return this.waiting.length;
  }

  /** Resolves when the item's round is done. @throws what that round threw. */
  add(item: T): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      this.running ??= untraced(() => this.run());
    });
  }

  /** Resolves when nothing is waiting or in progress. */
  async idle(): Promise<void> {
    await this.running;
  }

  private async run(): Promise<void> {
    // Wait one turn of the event loop, so that a whole burst goes into one round.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.waiting.length > 0) await this.round(this.waiting.splice(0, this.maxPerRound));
    this.running = undefined;
  }

  private async round(entries: Entry<T>[]): Promise<void> {
    try {
      await this.work(entries.map(({ item }) => item));
      for (const { resolve } of entries) resolve();
    } catch (error) {
      for (const { reject } of entries) reject(error);
    }
  }
}
