import type { Batch, Consumer, EachBatchPayload, Kafka, KafkaMessage, RetryOptions } from 'kafkajs';
import type { Logger } from '#platform/logging.js';
import { backoffMs, type BackoffOptions } from '../backoff.js';
import type { LagOf } from '../bus.metrics.js';
import { Backlog, type OffsetsOf } from './backlog.js';
import { preparedMember } from './kafkajs.patch.js';
import { OffsetCommits } from './offset.commits.js';

export interface ConsumerSettings {
  log: Logger;
  onFatal: (error: Error) => void;
  retry: RetryOptions;
  backoff: BackoffOptions;
  sessionTimeoutMs: number;
  heartbeatIntervalMs: number;
  offsetsOf: OffsetsOf;
}

export interface GroupConsumerOptions extends ConsumerSettings {
  groupId: string;
  /** The consumer group's name in metrics. */
  group: string;
  topics: readonly string[];
  /** The most partitions handled at the same time. */
  partitions: number;
  /** True: reads from the first uncommitted message, and commits. False: reads only new messages, and commits nothing. */
  durable: boolean;
  /** Called after each assignment, once the position is certain. */
  onAssigned?: () => void;
  /** Handles messages together. Returns how many, counted from the first, need not be delivered again. */
  handle: (batch: Batch, messages: KafkaMessage[]) => Promise<number>;
}

/** The ledger commits together what arrives together; a larger slice would only delay its first messages. */
const MAX_SLICE = 500;
/** Short, because disconnecting waits for the open fetch. */
const MAX_FETCH_WAIT_MS = 250;

/** Reads topics in slices: handlers, then replies (both in `handle`), then a heartbeat. Offsets are committed behind. */
export class GroupConsumer {
  private readonly consumer: Consumer;
  private readonly failures = new Map<string, number>();
  private readonly resumeTimers = new Set<NodeJS.Timeout>();
  private readonly backlog: Backlog;
  private readonly commits: OffsetCommits;
  private readonly slices = new Set<Promise<number>>();
  /** Partitions of the current membership, by topic. */
  private assigned: Readonly<Record<string, number[]>> = {};
  private isLeaving = false;
  private joined = false;
  private positioned = false;
  private lastBeatMs = 0;
  private crash: Error | undefined;

  constructor(
    kafka: Kafka,
    private readonly options: GroupConsumerOptions,
  ) {
    this.commits = new OffsetCommits(options.backoff);
    this.backlog = new Backlog(options);
    this.consumer = kafka.consumer({
      groupId: options.groupId,
      sessionTimeout: options.sessionTimeoutMs,
      // Other members wait for one that is slow to rejoin, on connections that close when no answer comes.
      rebalanceTimeout: options.sessionTimeoutMs,
      heartbeatInterval: options.heartbeatIntervalMs,
      partitionAssigners: [
        preparedMember({ prepare: () => this.prepareToLeave(), stay: () => (this.isLeaving = false) }),
      ],
      maxWaitTimeInMs: MAX_FETCH_WAIT_MS,
      allowAutoTopicCreation: false,
      retry: options.retry,
    });
    this.listen();
  }

  /** Resolves when the group's position is certain: everything written from now on will be read. */
  async start(): Promise<void> {
    const { topics, durable, partitions } = this.options;
    const ready = this.untilPositioned();
    await this.consumer.connect();
    await this.consumer.subscribe({ topics: [...topics], fromBeginning: durable });
    await this.consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: partitions,
      eachBatch: (payload) => this.eachBatch(payload),
    });
    await ready;
  }

  /** Finishes and commits the slices in progress, then leaves the group. */
  async stop(): Promise<void> {
    await this.consumer.disconnect();
    this.resumeTimers.forEach((timer) => clearTimeout(timer));
  }

  /** @throws Error if the group does not answer or this consumer has died. */
  checkHealth(): void {
    const { groupId, sessionTimeoutMs, heartbeatIntervalMs } = this.options;
    if (this.crash) throw new Error(`the consumer of ${groupId} died: ${this.crash.message}`);
    if (!this.joined) throw new Error(`the consumer of ${groupId} has not joined its group`);
    const silentMs = Math.round(performance.now() - this.lastBeatMs);
    if (silentMs > sessionTimeoutMs + heartbeatIntervalMs) {
      throw new Error(`the consumer of ${groupId} has not reached the broker for ${silentMs} ms`);
    }
  }

  lags(): Iterable<[LagOf, number]> {
    return this.backlog.lags();
  }

  private listen(): void {
    const { GROUP_JOIN, HEARTBEAT, FETCH, REBALANCING, CRASH, STOP, DISCONNECT } = this.consumer.events;
    this.consumer.on(GROUP_JOIN, ({ payload }) => this.onJoined(payload.memberAssignment));
    // The broker still knows it as a member, even if it could not rejoin.
    this.consumer.on(HEARTBEAT, () => {
      this.joined = true;
      this.lastBeatMs = performance.now();
    });
    // Positions are looked up on joining; the first fetch afterwards proves that they are known.
    this.consumer.on(FETCH, () => {
      if (this.positioned || !this.joined) return;
      this.positioned = true;
      this.options.onAssigned?.();
    });
    for (const event of [REBALANCING, STOP, DISCONNECT]) this.consumer.on(event, () => (this.joined = false));
    this.consumer.on(CRASH, ({ payload }) => {
      this.joined = false;
      if (payload.restart) return;
      this.crash = payload.error;
      this.options.onFatal(payload.error);
    });
  }

  private onJoined(assigned: Record<string, number[]>): void {
    this.joined = true;
    this.isLeaving = false;
    this.assigned = assigned;
    this.positioned = false;
    this.backlog.assign(assigned);
    this.commits.forget();
    this.lastBeatMs = performance.now();
  }

  private untilPositioned(): Promise<void> {
    return new Promise((resolve, reject) => {
      const { FETCH, CRASH } = this.consumer.events;
      const stops = [
        this.consumer.on(FETCH, () => this.positioned && finish(resolve)),
        this.consumer.on(CRASH, ({ payload }) => !payload.restart && finish(() => reject(payload.error))),
      ];
      const finish = (settle: () => void) => {
        stops.forEach((stop) => stop());
        settle();
      };
    });
  }

  /**
   * Before the partitions may go to another member: nothing new begins, what was begun ends and is committed, so that
   * the next one handles none of it again.
   */
  private async prepareToLeave(): Promise<void> {
    this.isLeaving = true;
    await Promise.allSettled(this.slices);
    await this.commits.flush();
  }

  private async eachBatch(payload: EachBatchPayload): Promise<void> {
    const { batch } = payload;
    for (let from = 0; from < batch.messages.length; from += MAX_SLICE) {
      // A fetch begun under an earlier membership may return messages that now belong to other members.
      if (!payload.isRunning() || payload.isStale() || !this.isAssigned(batch)) return;
      if (this.isLeaving) {
        this.backOff(payload);
        return;
      }
      const slice = batch.messages.slice(from, from + MAX_SLICE);
      // They wait, also if their handler hangs or fails.
      this.backlog.count(batch, BigInt(slice[0]!.offset));
      const finished = await this.begun(this.handleSlice(payload, slice));
      if (finished < slice.length) {
        this.backOff(payload);
        return;
      }
      this.failures.delete(nameOf(batch));
    }
  }

  private isAssigned({ topic, partition }: Batch): boolean {
    return this.assigned[topic]?.includes(partition) ?? false;
  }

  private async begun(slice: Promise<number>): Promise<number> {
    this.slices.add(slice);
    try {
      return await slice;
    } finally {
      this.slices.delete(slice);
    }
  }

  private async handleSlice(payload: EachBatchPayload, slice: KafkaMessage[]): Promise<number> {
    const { batch } = payload;
    // Long work must not cost the membership. If it is lost anyway, the next commit shows it.
    const beat = setInterval(() => {
      payload.heartbeat().catch(() => undefined);
      this.backlog.recount().catch(() => undefined);
    }, this.options.heartbeatIntervalMs);
    try {
      this.commits.check();
      const finished = await this.handleOrNone(batch, slice);
      const last = slice[finished - 1];
      if (last) this.advance(payload, last.offset);
      await payload.heartbeat();
      return finished;
    } finally {
      clearInterval(beat);
    }
  }

  /** Replies that the broker did not accept are sent again with the stored answer, after the usual pause. */
  private async handleOrNone(batch: Batch, slice: KafkaMessage[]): Promise<number> {
    try {
      return await this.options.handle(batch, slice);
    } catch (error) {
      this.options.log.warn({ err: error, topic: batch.topic, partition: batch.partition }, 'a slice failed');
      return 0;
    }
  }

  private advance(payload: EachBatchPayload, offset: string): void {
    payload.resolveOffset(offset);
    const next = BigInt(offset) + 1n;
    this.backlog.count(payload.batch, next);
    if (this.options.durable) this.commits.add({ payload, offset: next.toString() });
  }

  /** Restarts this partition at its first unfinished message; the other partitions continue. */
  private backOff(payload: EachBatchPayload): void {
    const name = nameOf(payload.batch);
    const failures = (this.failures.get(name) ?? 0) + 1;
    this.failures.set(name, failures);
    const resume = payload.pause();
    const timer = setTimeout(
      () => {
        this.resumeTimers.delete(timer);
        resume();
      },
      backoffMs(failures, this.options.backoff),
    );
    this.resumeTimers.add(timer);
  }
}

function nameOf({ topic, partition }: Pick<Batch, 'topic' | 'partition'>): string {
  return `${topic}/${partition}`;
}
