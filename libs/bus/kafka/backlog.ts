import type { Admin, Batch } from 'kafkajs';
import type { LagOf } from '../bus.metrics.js';

export type OffsetsOf = Admin['fetchTopicOffsets'];

interface BacklogOptions {
  /** The consumer group's name in metrics. */
  group: string;
  offsetsOf: OffsetsOf;
}

interface Waiting {
  of: LagOf;
  /** The first message that is not handled yet; null before a fetch has returned any. */
  next: bigint | null;
  /** Where the partition ended when the broker last said so. */
  end: bigint;
}

/** Counts the messages that wait in the partitions of a consumer. */
export class Backlog {
  private readonly waiting = new Map<string, Waiting>();
  private isAsking = false;

  constructor(private readonly options: BacklogOptions) {}

  /** Until the first fetch of a partition shows what waits there, nothing does. */
  assign(assigned: Readonly<Record<string, number[]>>): void {
    const { group } = this.options;
    this.waiting.clear();
    for (const [topic, partitions] of Object.entries(assigned))
      for (const partition of partitions)
        this.waiting.set(nameOf(topic, partition), { of: { topic, group, partition }, next: null, end: 0n });
  }

  count({ topic, partition, highWatermark }: Batch, next: bigint): void {
    const waiting = this.waiting.get(nameOf(topic, partition));
    if (!waiting) return;
    waiting.next = next;
    waiting.end = later(waiting.end, BigInt(highWatermark));
  }

  /** Call it while messages are being handled for long: nothing is fetched meanwhile, so only the broker knows what arrives. */
  async recount(): Promise<void> {
    if (this.isAsking) return;
    this.isAsking = true;
    try {
      const topics = new Set([...this.waiting.values()].map(({ of }) => of.topic));
      await Promise.all([...topics].map((topic) => this.recountTopic(topic)));
    } finally {
      this.isAsking = false;
    }
  }

  *lags(): Iterable<[LagOf, number]> {
    for (const { of, next, end } of this.waiting.values())
      yield [of, next === null || next > end ? 0 : Number(end - next)];
  }

  private async recountTopic(topic: string): Promise<void> {
    for (const { partition, high } of await this.options.offsetsOf(topic)) {
      const waiting = this.waiting.get(nameOf(topic, partition));
      if (waiting) waiting.end = later(waiting.end, BigInt(high));
    }
  }
}

function nameOf(topic: string, partition: number): string {
  return `${topic}/${partition}`;
}

function later(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
