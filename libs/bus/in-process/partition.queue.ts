import { backoffMs, type BackoffOptions } from '../backoff.js';
import { BusUnavailable } from '../bus.errors.js';
import type { MessageDelivery } from '../delivery.js';
import type { BusMessage } from '../message.js';

interface Entry {
  sequence: number;
  message: BusMessage;
  wantsReply: boolean;
  resolve: (reply: string | null) => void;
  reject: (error: Error) => void;
}

export interface QueueLimits {
  /** Messages handled at the same time. */
  inFlight: number;
  /** The most messages that may wait. More are refused, so that senders notice when nothing moves. */
  waiting: number;
}

interface QueuePlace {
  readonly partition: number;
  /** Makes offsets unique across restarts, since dead letters outlive the process. */
  readonly epoch: string;
}

/**
 * One partition of a topic as one consumer group reads it. Handlers start in message order and run concurrently. A
 * transient error stops the partition; after a backoff, the failed messages come first.
 */
export class PartitionQueue {
  private waiting: Entry[] = [];
  private failed: Entry[] = [];
  private inFlight = 0;
  private failures = 0;
  private resumeTimer: NodeJS.Timeout | undefined;
  private delivery: MessageDelivery | undefined;
  /** In order of arrival: a set keeps the order of insertion, and an entry leaves only when it is done. */
  private readonly unfinished = new Set<number>();
  private whenIdle: (() => void)[] = [];
  private abandoned = false;

  constructor(
    private readonly place: QueuePlace,
    private readonly limits: QueueLimits,
    private readonly backoff: BackoffOptions,
  ) {}

  get depth(): number {
    return this.unfinished.size;
  }

  attach(delivery: MessageDelivery | undefined): void {
    this.delivery = delivery;
    this.pump();
  }

  /** Resolves with the reply when the message is handled. @throws BusUnavailable when the queue is full. */
  push(sequence: number, message: BusMessage, wantsReply: boolean): Promise<string | null> {
    if (this.waiting.length >= this.limits.waiting) {
      return Promise.reject(
        new BusUnavailable(`${message.topic} has ${this.waiting.length} messages waiting`),
      );
    }
    this.unfinished.add(sequence);
    return new Promise((resolve, reject) => {
      this.waiting.push({ sequence, message, wantsReply, resolve, reject });
      this.pump();
    });
  }

  hasFinishedUpTo(sequence: number): boolean {
    const [oldest] = this.unfinished;
    return oldest === undefined || oldest > sequence;
  }

  idle(): Promise<void> {
    return this.unfinished.size === 0
      ? Promise.resolve()
      : new Promise((resolve) => this.whenIdle.push(resolve));
  }

  /** Drops messages that are not being handled; their senders get an error. */
  abandon(): void {
    this.abandoned = true;
    clearTimeout(this.resumeTimer);
    this.resumeTimer = undefined;
    for (const entry of [...this.failed.splice(0), ...this.waiting.splice(0)]) {
      entry.reject(new BusUnavailable('the bus is closed'));
      this.finish(entry);
    }
  }

  private pump(): void {
    if (this.abandoned || this.resumeTimer || this.failed.length > 0 || !this.delivery) return;
    const free = this.limits.inFlight - this.inFlight;
    if (free <= 0 || this.waiting.length === 0) return;
    for (const entry of this.waiting.splice(0, free)) void this.run(entry, this.delivery);
  }

  private async run(entry: Entry, delivery: MessageDelivery): Promise<void> {
    this.inFlight += 1;
    const { key, version, value, traceparent } = entry.message;
    const outcome = await delivery.handle({
      partition: this.place.partition,
      offset: `${this.place.epoch}-${entry.sequence}`,
      key,
      version,
      value,
      wantsReply: entry.wantsReply,
      traceparent,
    });
    this.inFlight -= 1;
    if (outcome.done) {
      this.failures = 0;
      entry.resolve(outcome.reply);
      this.finish(entry);
    } else {
      this.failed.push(entry);
    }
    if (this.abandoned) this.abandon();
    else if (this.failed.length > 0) this.backOffWhenSettled();
    else this.pump();
  }

  /** Waits for handlers started before the failure, so that failed messages are retried in their order. */
  private backOffWhenSettled(): void {
    if (this.inFlight > 0 || this.resumeTimer) return;
    this.failures += 1;
    this.resumeTimer = setTimeout(
      () => {
        this.resumeTimer = undefined;
        this.waiting = [...this.failed.splice(0).sort((a, b) => a.sequence - b.sequence), ...this.waiting];
        this.pump();
      },
      backoffMs(this.failures, this.backoff),
    );
  }

  private finish(entry: Entry): void {
    this.unfinished.delete(entry.sequence);
    if (this.unfinished.size > 0) return;
    for (const wake of this.whenIdle.splice(0)) wake();
  }
}
