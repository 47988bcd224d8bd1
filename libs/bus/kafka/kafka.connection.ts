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
import { NO_RETRIES, sendAll } from './send.all.js';
import { SendQueue, type OutgoingMessage } from './send.queue.js';

export interface KafkaOptions {
  /** `host:port` of some brokers. */
  brokers: readonly string[];
  /** The program's name, as the broker shows it. */
  clientId: string;
  log: Logger;
  registry: Registry;
  /** Called when a consumer has failed for good: the program should exit and be restarted. */
  onFatal: (error: Error) => void;
  topics?: readonly AnyTopic[];
  /** The prefix of every topic and group, so that several installations can share brokers. */
  namespace?: string;
  backoff?: BackoffOptions;
  /** How long a consumer may be silent before it loses its partitions, in milliseconds. */
  sessionTimeoutMs?: number;
  heartbeatIntervalMs?: number;
}

const DEFAULT_SESSION_TIMEOUT_MS = 10_000;
const DEFAULT_HEARTBEAT_INTERVAL_MS = 3_000;
/** An unreachable broker is retried for about ten seconds before a call fails. */
const RETRY = { initialRetryTime: 100, maxRetryTime: 2_000, retries: 8 };
const CLIENT = {
  connectionTimeout: 1_000,
  requestTimeout: 15_000,
  socketFactory: answeredSocket,
  retry: RETRY,
  logLevel: logLevel.WARN,
};

/** One program's connection to Kafka, shared by its server and its client. */
export class KafkaConnection {
  /** Identifies this process among others of the same program: each has its own replies and broadcasts. */
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
      ...CLIENT,
      clientId: options.clientId,
      brokers: [...options.brokers],
      logCreator: logInto(options.log),
    });
    this.admin = this.kafka.admin();
    // Not `idempotent`: such a producer cannot continue after a lost batch, and consumers tolerate duplicates.
    this.producer = this.kafka.producer({
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
      maxInFlightRequests: 1,
      retry: NO_RETRIES,
    });
    this.sends = new SendQueue((topicMessages) =>
      sendAll(() => this.producer.sendBatch({ acks: -1, topicMessages })),
    );
    watchLag(options.registry, (set) => {
      for (const consumer of this.consumers) for (const [of, messages] of consumer.lags()) set(of, messages);
    });
  }

  /** Connects once, and creates missing topics. @throws if no broker is found within about ten seconds. */
  connect(): Promise<void> {
    this.connected ??= this.connectOnce().catch((error: unknown) => {
      this.connected = undefined;
      throw error;
    });
    return this.connected;
  }

  /** Resolves when every in-sync replica has the messages. Topic names come without the namespace. */
  send(messages: OutgoingMessage[]): Promise<void> {
    return this.sends.add(messages.map((message) => ({ ...message, topic: this.namespace + message.topic })));
  }

  /** The settings shared by all consumers of this connection. */
  consumerSettings(): ConsumerSettings {
    const { log, backoff, onFatal, sessionTimeoutMs, heartbeatIntervalMs } = this.options;
    return {
      log,
      onFatal,
      retry: RETRY,
      backoff: backoff ?? DEFAULT_BACKOFF,
      sessionTimeoutMs: sessionTimeoutMs ?? DEFAULT_SESSION_TIMEOUT_MS,
      heartbeatIntervalMs: heartbeatIntervalMs ?? DEFAULT_HEARTBEAT_INTERVAL_MS,
      offsetsOf: (topic) => this.admin.fetchTopicOffsets(topic),
    };
  }

  /** Includes the consumer in health and lag until it stops. */
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

  /** Compares committed offsets. A partition without a commit counts as read if the marker is not past its start. */
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

  /** @throws Error that names what is not connected. */
  async health(): Promise<void> {
    await this.connect();
    for (const consumer of this.consumers) consumer.checkHealth();
    if (this.consumers.size === 0) await this.admin.describeCluster();
  }

  /** Call after closing servers and clients. Stops the consumers they left, because the broker would wait for those. */
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

/** kafkajs repeats its errors while a broker is down. They are logged as warnings; calls and health show real failures. */
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
