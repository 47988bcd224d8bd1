import type { KafkaMessage } from 'kafkajs';
import { BusClient, type ReadMarker } from '../bus.client.js';
import { BusUnavailable } from '../bus.errors.js';
import type { BusMessage } from '../message.js';
import { GroupConsumer } from './group.consumer.js';
import { header, headers } from './headers.js';
import type { KafkaConnection } from './kafka.connection.js';
import { REPLY_TOPIC } from './kafka.topics.js';
import type { OutgoingMessage } from './send.queue.js';

type Settle = (error: unknown, reply: string | null) => void;

export class KafkaClient extends BusClient {
  private readonly open = new Map<string, Settle>();
  private replies: GroupConsumer | undefined;
  private connected: Promise<void> | undefined;
  private lastCorrelationId = 0;

  constructor(
    private readonly connection: KafkaConnection,
    private readonly asks: boolean,
  ) {
    super(connection.topics);
  }

  connect(): Promise<void> {
    this.connected ??= this.connectOnce().catch((error: unknown) => {
      this.connected = undefined;
      throw new BusUnavailable('the broker is out of reach', { cause: error });
    });
    return this.connected;
  }

  async close(): Promise<void> {
    for (const settle of Array.from(this.open.values()))
      settle(new BusUnavailable('the bus is closed'), null);
    if (this.replies) await this.stop(this.replies);
    this.replies = undefined;
  }

  async tell(message: BusMessage): Promise<void> {
    await this.connect();
    await this.connection.send([outgoing(message)]);
  }

  endOffsets(topic: string): Promise<ReadMarker> {
    return this.connection.endOf(topic);
  }

  hasConsumedPast(group: string, marker: ReadMarker): Promise<boolean> {
    return this.connection.hasCommittedPast(group, marker);
  }

  async health(): Promise<void> {
    await this.connect();
    await this.connection.health();
  }

  override unwrap<T>(): T {
    return this.connection as T;
  }

  protected ask(message: BusMessage, settle: Settle): () => void {
    if (!this.asks) throw new BusUnavailable('this client only publishes: create it with { asks: true }');
    this.lastCorrelationId += 1;
    const correlationId = String(this.lastCorrelationId);
    const forget = () => this.open.delete(correlationId);
    const once: Settle = (error, reply) => {
      if (forget()) settle(error, reply);
    };
    this.open.set(correlationId, once);
    const request = outgoing(message, { correlationId, replyTo: this.connection.instanceId });
    this.connection
      .send([{ ...request, isForgotten: () => !this.open.has(correlationId) }])
      .catch((error: unknown) => once(error, null));
    return () => void forget();
  }

  private async connectOnce(): Promise<void> {
    await this.connection.connect();
    if (!this.asks) return;
    const { namespace, instanceId, kafka } = this.connection;
    const replies = new GroupConsumer(kafka, {
      ...this.connection.consumerSettings(),
      groupId: `${namespace}${REPLY_TOPIC}.${instanceId}`,
      group: 'replies',
      topics: [namespace + REPLY_TOPIC],
      partitions: 1,
      durable: false,
      handle: async (_batch, messages) => {
        for (const message of messages) this.receive(message);
        return messages.length;
      },
    });
    this.connection.watch(replies);
    try {
      await replies.start();
      this.replies = replies;
    } catch (error) {
      await this.stop(replies);
      throw error;
    }
  }

  private async stop(replies: GroupConsumer): Promise<void> {
    await replies.stop();
    this.connection.unwatch(replies);
  }

  private receive(message: KafkaMessage): void {
    if (header(message, headers.replyTo) !== this.connection.instanceId) return;
    // Already answered, or no longer awaited. A repeated request gets the charge's stored answer.
    this.open.get(header(message, headers.correlationId) ?? '')?.(null, message.value?.toString() ?? null);
  }
}

function outgoing(
  { topic, key, value, version, traceparent }: BusMessage,
  asked?: { correlationId: string; replyTo: string },
): OutgoingMessage {
  return {
    topic,
    key,
    value,
    headers: {
      [headers.version]: version,
      ...(traceparent !== undefined && { [headers.trace]: traceparent }),
      ...(asked && { [headers.correlationId]: asked.correlationId, [headers.replyTo]: asked.replyTo }),
    },
  };
}
