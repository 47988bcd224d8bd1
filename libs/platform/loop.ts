import type { Logger } from './logging.js';

export interface LoopOptions {
  name: string;
  /** Pause between rounds that found nothing to do, milliseconds; jittered by a quarter. */
  intervalMs: number;
  log: Logger;
  /** One bounded round. Answering true means that more is waiting, so the next round follows at once. */
  round: (signal: AbortSignal) => Promise<boolean | void>;
}

interface LoopRecord {
  /** Rounds that threw. */
  failures: number;
  /** When a round last ended well, Unix milliseconds; the start of the loop before that. */
  lastSuccessAtMs: number;
}

const records = new Map<string, LoopRecord>();

/** What the loops of this process did, by name; loops of the same name share a record. */
export const loopRecords: ReadonlyMap<string, Readonly<LoopRecord>> = records;

/** The longest pause after failing rounds. */
const MAX_BACKOFF_MS = 10_000;

/** A background loop: jittered, backing off on errors, woken early by wake(), ended by stop() after its round. */
export class Loop {
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  private wakeUp: (() => void) | undefined;
  private woken = false;

  constructor(private readonly options: LoopOptions) {}

  start(): this {
    this.running ??= this.run();
    return this;
  }

  /** Starts the next round now, or right after the one in progress. */
  wake(): void {
    this.woken = true;
    this.wakeUp?.();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    this.wakeUp?.();
    await this.running;
  }

  private async run(): Promise<void> {
    const { name, log } = this.options;
    const record = records.get(name) ?? { failures: 0, lastSuccessAtMs: Date.now() };
    records.set(name, record);
    let failures = 0;
    while (!this.stopping.signal.aborted) {
      this.woken = false;
      let more: boolean | void = false;
      try {
        more = await this.options.round(this.stopping.signal);
        failures = 0;
        record.lastSuccessAtMs = Date.now();
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        failures += 1;
        record.failures += 1;
        log.error({ err: error, loop: name, failures }, 'a round of a loop failed');
      }
      if (more !== true && !this.woken) await this.pause(failures);
    }
  }

  private pause(failures: number): Promise<void> {
    const { intervalMs } = this.options;
    const baseMs =
      failures === 0
        ? intervalMs
        : Math.min(Math.max(intervalMs, 50) * 2 ** Math.min(failures, 8), MAX_BACKOFF_MS);
    return new Promise((resolve) => {
      if (this.stopping.signal.aborted) return resolve();
      const finish = () => {
        clearTimeout(timer);
        this.wakeUp = undefined;
        resolve();
      };
      const timer = setTimeout(finish, baseMs * (0.75 + Math.random() / 2));
      this.wakeUp = finish;
    });
  }
}

/** A service whose work is the rounds of one loop. */
export abstract class Looping {
  private readonly loop: Loop;

  constructor(options: Omit<LoopOptions, 'round'>) {
    this.loop = new Loop({ ...options, round: (signal) => this.round(signal) });
  }

  start(): void {
    this.loop.start();
  }

  /** Call it after a commit that left work. */
  wake(): void {
    this.loop.wake();
  }

  async stop(): Promise<void> {
    await this.loop.stop();
  }

  protected abstract round(signal: AbortSignal): Promise<boolean | void>;
}
