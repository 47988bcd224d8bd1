/**
 * The most that an upstream can still send after the client left: of text, and of images, each of which comes several times.
 */
const MAX_DRAINED_BYTES = 16 * 1024 * 1024;
const MAX_DRAINED_IMAGE_BYTES = 128 * 1024 * 1024;

export interface DrainLimits {
  /** How long an answer is read after its client left. */
  drainMs: number;
  /** How many of them an account may have at once. */
  perAccount: number;
}

/**
 * Keeps reading answers whose clients have left, so that leaving before the usage is reported costs the same as staying: for a
 * limited time, and only a few at once per account. Beyond that they are stopped at once and billed by estimate.
 */
export class Drains {
  private readonly running = new Map<string, number>();
  private readonly stops = new Set<AbortController>();

  constructor(private readonly limits: DrainLimits) {}

  /**
   * From now on, the client leaving starts the drain of its answer, whose end fires `stop`.
   * @returns a function that ends the watch, to be called once the answer is over
   */
  watch(accountId: string, left: AbortSignal, stop: AbortController): () => void {
    let end = (): void => undefined;
    const onLeave = (): void => {
      end = this.begin(accountId, stop);
    };
    if (left.aborted) stop.abort();
    else left.addEventListener('abort', onLeave, { once: true });
    return () => {
      left.removeEventListener('abort', onLeave);
      end();
    };
  }

  /** Ends all of them at shutdown. */
  stopAll(): void {
    for (const stop of this.stops) stop.abort();
  }

  private begin(accountId: string, stop: AbortController): () => void {
    const { drainMs, perAccount } = this.limits;
    const count = this.running.get(accountId) ?? 0;
    if (count >= perAccount || drainMs <= 0) {
      stop.abort();
      return () => undefined;
    }
    this.running.set(accountId, count + 1);
    this.stops.add(stop);
    const patience = setTimeout(() => stop.abort(), drainMs);
    return () => {
      clearTimeout(patience);
      this.stops.delete(stop);
      const others = (this.running.get(accountId) ?? 1) - 1;
      if (others > 0) this.running.set(accountId, others);
      else this.running.delete(accountId);
    };
  }
}

/** Counts what comes after the client left. */
export class DrainedBytes {
  private bytes = 0;

  constructor(
    private readonly left: AbortSignal,
    private readonly isOfImages = false,
  ) {}

  /** @throws Error once it is more than anyone should pay for */
  add(chunk: Buffer): void {
    if (!this.left.aborted) return;
    this.bytes += chunk.length;
    if (this.bytes > (this.isOfImages ? MAX_DRAINED_IMAGE_BYTES : MAX_DRAINED_BYTES))
      throw new DrainTooLong();
  }
}

export class DrainTooLong extends Error {}
