import { Kafka, logLevel, Partitioners, type Admin, type Producer, type logCreator } from 'kafkajs';
import { newId } from '#platform/ids.js';
import type { Logger } from '#platform/logging.js';
import type { Registry } from '#platform/metrics.js';
import { DEFAULT_BACKOFF, type BackoffOptions } from '../backoff.js';
import type { ReadMarker } from '../bus.client.js';
import { watchLag } from '../bus.metrics.js';
import type { AnyTopic } from '../topic.js';
import { allTopics } from '../topics.js';
import { answeredSocket } from './answered-socket.js';
import type { ConsumerSettings, GroupConsumer } from './group.consumer.js';
import { ensureTopics, whileLeadersMove } from './kafka.topics.js';
import { quietenRequestQueue } from './kafkajs.patch.js';
import { SendQueue, type OutgoingMessage } from './send.queue.js';

export interface KafkaOptions {
  /** `host:port` of some brokers. */
  brokers: readonly string[];
  /** The program's name, shown by the broker. */
  clientId: string;
  log: Logger;
  registry: Registry;
  /** A consumer died permanently: the program should exit and be restarted. */
  onFatal: (error: Error) => void;
  topics?: readonly AnyTopic[];
  /** The prefix of every topic and group, so that several installations can share brokers. */
  namespace?: string;
  backoff?: BackoffOptions;
  /** A consumer that is silent for this long loses its partitions, milliseconds. */
  sessionTimeoutMs?: number;
  heartbeatIntervalMs?: number;
}

const DEFAULT_SESSION_TIMEOUT_MS = 10_000;
const DEFAULT_HEARTBEAT_INTERVAL_MS = 3_000;
/** An unreachable broker is retried for about ten seconds before a call fails. */
const RETRY = { initialRetryTime: 100, maxRetryTime: 2_000, retries: 8 };
/** A sender fails sooner, because a client is waiting. */
const PRODUCER_RETRY = { initialRetryTime: 50, maxRetryTime: 1_000, retries: 4 };

/** One program's connection to Kafka, shared by its server and its client. */
export class KafkaConnection {
  /** Distinguishes this process from its siblings: its replies and its broadcasts are its own. */
  readonly instanceId = newId();
  readonly kafka: Kafka;
  readonly namespace: string;
  readonly topics: readonly AnyTopic[];
  private readonly admin: Admin;
  private readonly producer: Producer;
  private readonly sends: SendQueue;
  private readonly consumers = new Set<GroupConsumer>();
  private connected: Promise<void> | undefined;

  constructor(private readonly options: KafkaOptions) {
    quietenRequestQueue();
    this.namespace = options.namespace ?? '';
    this.topics = options.topics ?? allTopics;
    this.kafka = new Kafka({
      clientId: options.clientId,
      brokers: [...options.brokers],
      connectionTimeout: 1_000,
      requestTimeout: 15_000,
      socketFactory: answeredSocket,
      retry: RETRY,
      logLevel: logLevel.WARN,
      logCreator: logInto(options.log),
    });
    this.admin = this.kafka.admin();
    // Not `idempotent`: that producer cannot go on after a lost batch, and duplicates are the consumers' to bear.
    this.producer = this.kafka.producer({
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
      maxInFlightRequests: 1,
      retry: PRODUCER_RETRY,
    });
    this.sends = new SendQueue((topicMessages) => this.producer.sendBatch({ acks: -1, topicMessages }));
    watchLag(options.registry, (set) => {
      for (const consumer of this.consumers) for (const [of, messages] of consumer.lags()) set(of, messages);
    });
  }

  /** Connects once, and creates the topics that are missing. @throws when no broker is found in about ten seconds. */
  connect(): Promise<void> {
    this.connected ??= this.connectOnce().catch((error: unknown) => {
      this.connected = undefined;
      throw error;
    });
    return this.connected;
  }

  /** Resolves when every in-sync replica has the messages; topics are named without the namespace. */
  send(messages: OutgoingMessage[]): Promise<void> {
    return this.sends.add(messages.map((message) => ({ ...message, topic: this.namespace + message.topic })));
  }

  /** What consumers of this connection share. */
  consumerSettings(): ConsumerSettings {
    const { log, backoff, onFatal, sessionTimeoutMs, heartbeatIntervalMs } = this.options;
    return {
      log,
      onFatal,
      retry: RETRY,
      backoff: backoff ?? DEFAULT_BACKOFF,
      sessionTimeoutMs: sessionTimeoutMs ?? DEFAULT_SESSION_TIMEOUT_MS,
      heartbeatIntervalMs: heartbeatIntervalMs ?? DEFAULT_HEARTBEAT_INTERVAL_MS,
    };
  }

  /** Has the consumer counted in health and lag until it stops. */
  watch(consumer: GroupConsumer): void {
    this.consumers.add(consumer);
  }

  unwatch(consumer: GroupConsumer): void {
    this.consumers.delete(consumer);
  }

  async endOf(topic: string): Promise<ReadMarker> {
    await this.connect();
    const partitions = await whileLeadersMove(() => this.admin.fetchTopicOffsets(this.namespace + topic));
    return { topic, offsets: partitions.map(({ partition, high }) => [partition, high] as const) };
  }

  /** Compares committed offsets; a partition never committed counts as read when the marker is not past its start. */
  async hasCommittedPast(group: string, marker: ReadMarker): Promise<boolean> {
    await this.connect();
    const topic = this.namespace + marker.topic;
    const [[read], bounds] = await whileLeadersMove(() =>
      Promise.all([
        this.admin.fetchOffsets({ groupId: this.namespace + group, topics: [topic] }),
        this.admin.fetchTopicOffsets(topic),
      ]),
    );
    return marker.offsets.every(([partition, offset]) => {
      const committed = BigInt(read?.partitions.find((each) => each.partition === partition)?.offset ?? -1);
      const low = BigInt(bounds.find((each) => each.partition === partition)?.low ?? 0);
      return (committed >= 0n ? committed : low) >= BigInt(offset);
    });
  }

  /** @throws Error naming what is not connected. */
  async health(): Promise<void> {
    await this.connect();
    for (const consumer of this.consumers) consumer.checkHealth();
    if (this.consumers.size === 0) await this.admin.describeCluster();
  }

  /** Servers and clients are closed before; consumers they left are stopped here, or the broker waits for them. */
  async close(): Promise<void> {
    await Promise.all([...this.consumers].map((consumer) => consumer.stop()));
    await this.sends.close();
    await Promise.all([this.producer.disconnect(), this.admin.disconnect()]);
  }

  private async connectOnce(): Promise<void> {
    await this.admin.connect();
    await ensureTopics(this.admin, this.topics, this.namespace);
    await this.producer.connect();
  }
}

/** kafkajs repeats itself while a broker is away; its errors are warnings here, since calls and health show the rest. */
function logInto(log: Logger): logCreator {
  return () =>
    ({ namespace, level, log: { message, ...extra } }) => {
      if (level > logLevel.WARN) return;
      log.warn(
        { kafkajs: namespace, error: extra['error'] as unknown, broker: extra['broker'] as unknown },
        message,
      );
    };
}
