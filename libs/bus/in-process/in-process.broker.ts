import type { Logger } from '#platform/logging.js';
import { newId } from '#platform/ids.js';
import { watchLag } from '../bus.metrics.js';
import type { Registry } from '#platform/metrics.js';
import { waitAtMost } from '#platform/waiting.js';
import { DEFAULT_BACKOFF, type BackoffOptions } from '../backoff.js';
import type { ReadMarker } from '../bus.client.js';
import { BusUnavailable, BusWiringError } from '../bus.errors.js';
import type { MessageDelivery } from '../delivery.js';
import type { BusMessage } from '../message.js';
import type { AnyTopic } from '../topic.js';
import { allTopics } from '../topics.js';
import { PartitionQueue, type QueueLimits } from './partition.queue.js';

export interface InProcessOptions {
  /** Every consumer group hosted in this process. Messages wait for a group until it listens. */
  groups: readonly string[];
  log: Logger;
  registry: Registry;
  topics?: readonly AnyTopic[];
  backoff?: BackoffOptions;
  limits?: QueueLimits;
  /** How long closing waits for messages in progress, in milliseconds. */
  drainTimeoutMs?: number;
}

/** Per partition, so that senders are refused before memory runs out while the database is down. */
const DEFAULT_LIMITS: QueueLimits = { inFlight: 500, waiting: 2_000 };
const DEFAULT_DRAIN_TIMEOUT_MS = 10_000;

interface Reader {
  topic: AnyTopic;
  group: string;
  partitions: PartitionQueue[];
}

/**
 * Kafka's guarantees within one process: text only, partitions by key, consumer groups, at least once, unlimited retries.
 * Messages not yet handled are lost with the process, so publishing resolves only when every group has handled the message.
 */
export class InProcessBroker {
  readonly topics: readonly AnyTopic[];
  private readonly readers: Reader[];
  private readonly readersOf: ReadonlyMap<string, readonly Reader[]>;
  private readonly epoch = newId();
  private sequence = 0;
  private closed = false;

  constructor(private readonly options: InProcessOptions) {
    this.topics = options.topics ?? allTopics;
    this.readers = this.topics.flatMap((topic) =>
      topic.groups
        .filter((group) => options.groups.includes(group))
        .map((group) => ({ topic, group, partitions: this.newPartitions(topic) })),
    );
    this.readersOf = Map.groupBy(this.readers, ({ topic }) => topic.name);
    this.watchLag();
  }

  /** @throws BusWiringError if the group is not hosted here or already has a server. */
  attach(delivery: MessageDelivery): void {
    for (const queue of this.readerOf(delivery.topic.name, delivery.group).partitions) queue.attach(delivery);
  }

  /** Accepts nothing more for the group, and waits a limited time for messages in progress. */
  async detach(group: string): Promise<void> {
    const queues = this.readers
      .filter((reader) => reader.group === group)
      .flatMap(({ partitions }) => partitions);
    const limitMs = this.options.drainTimeoutMs ?? DEFAULT_DRAIN_TIMEOUT_MS;
    await waitAtMost(limitMs, Promise.all(queues.map((queue) => queue.idle())));
    for (const queue of queues) queue.attach(undefined);
  }

  /** Resolves with each group's reply once all have handled the message. @throws BusUnavailable */
  deliver(message: BusMessage, wantsReply: boolean): Promise<(string | null)[]> {
    if (this.closed) return Promise.reject(new BusUnavailable('the bus is closed'));
    this.sequence += 1;
    const sequence = this.sequence;
    const readers = this.readersOf.get(message.topic) ?? [];
    if (wantsReply && readers.length === 0) {
      return Promise.reject(new BusUnavailable(`nobody in this process answers ${message.topic}`));
    }
    return Promise.all(
      readers.map(({ partitions }) => {
        const queue = partitions[hash(message.key) % partitions.length] as PartitionQueue;
        return queue.push(sequence, message, wantsReply);
      }),
    );
  }

  endOf(topic: string): ReadMarker {
    return { topic, offsets: [[0, String(this.sequence)]] };
  }

  hasFinished(group: string, marker: ReadMarker): boolean {
    const sequence = Number(marker.offsets[0]?.[1] ?? 0);
    return this.readerOf(marker.topic, group).partitions.every((queue) => queue.hasFinishedUpTo(sequence));
  }

  /** @throws Error when closed. */
  checkOpen(): void {
    if (this.closed) throw new BusUnavailable('the bus is closed');
  }

  async close(): Promise<void> {
    this.closed = true;
    const queues = this.readers.flatMap(({ partitions }) => partitions);
    const limitMs = this.options.drainTimeoutMs ?? DEFAULT_DRAIN_TIMEOUT_MS;
    await waitAtMost(limitMs, Promise.all(queues.map((queue) => queue.idle())));
    for (const queue of queues) queue.abandon();
  }

  private readerOf(topic: string, group: string): Reader {
    const found = this.readers.find((reader) => reader.topic.name === topic && reader.group === group);
    if (found) return found;
    throw new BusWiringError([
      `${group} does not read ${topic} here: add ${group} to the transport's groups.`,
    ]);
  }

  private newPartitions(topic: AnyTopic): PartitionQueue[] {
    const { limits = DEFAULT_LIMITS, backoff = DEFAULT_BACKOFF } = this.options;
    return Array.from(
      { length: topic.partitions },
      (_, partition) => new PartitionQueue({ partition, epoch: this.epoch }, limits, backoff),
    );
  }

  private watchLag(): void {
    watchLag(this.options.registry, (set) => {
      for (const { topic, group, partitions } of this.readers) {
        partitions.forEach((queue, partition) => set({ topic: topic.name, group, partition }, queue.depth));
      }
    });
  }
}

/** FNV-1a: spreads account ids over the partitions. */
function hash(key: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1) value = Math.imul(value ^ key.charCodeAt(at), 0x01000193);
  return value >>> 0;
}
