import type { Batch, KafkaMessage } from 'kafkajs';
import { BusServer } from '../bus.server.js';
import type { ConsumerOptions, DeadLetter, MessageDelivery, Outcome } from '../delivery.js';
import { GroupConsumer } from './group.consumer.js';
import { header, headers } from './headers.js';
import type { KafkaConnection } from './kafka.connection.js';
import { deadLetterTopic, REPLY_TOPIC } from './kafka.topics.js';
import type { OutgoingMessage } from './send.queue.js';

export class KafkaServer extends BusServer {
  private consumers: GroupConsumer[] = [];
  private deliveries: MessageDelivery[] = [];

  constructor(
    private readonly connection: KafkaConnection,
    options: ConsumerOptions,
  ) {
    super(
      {
        ...options,
        // The topic first: a program that watches it sees the dead letter even if the store is down.
        onDeadLetter: async (letter) => {
          await connection.send([deadMessage(letter)]);
          await options.onDeadLetter(letter);
        },
      },
      connection.topics,
    );
  }

  async close(): Promise<void> {
    await Promise.all(
      this.consumers.splice(0).map(async (consumer) => {
        await consumer.stop();
        this.connection.unwatch(consumer);
      }),
    );
    await Promise.all(this.deliveries.map((delivery) => delivery.drain()));
  }

  override unwrap<T>(): T {
    return this.connection as T;
  }

  protected async start(deliveries: MessageDelivery[]): Promise<void> {
    this.deliveries = deliveries;
    await this.connection.connect();
    this.consumers = this.options.groups.flatMap((group) => {
      const own = deliveries.filter((delivery) => delivery.group === group);
      return [
        ...this.consumerOf(
          group,
          own.filter(({ topic }) => !topic.broadcast),
        ),
        ...this.consumerOf(
          group,
          own.filter(({ topic }) => topic.broadcast),
        ),
      ];
    });
    for (const consumer of this.consumers) this.connection.watch(consumer);
    await Promise.all(this.consumers.map((consumer) => consumer.start()));
  }

  private consumerOf(group: string, deliveries: MessageDelivery[]): GroupConsumer[] {
    const [first] = deliveries;
    if (!first) return [];
    const { namespace, instanceId, kafka } = this.connection;
    const durable = !first.topic.broadcast;
    const byTopic = new Map(deliveries.map((delivery) => [namespace + delivery.topic.name, delivery]));
    return [
      new GroupConsumer(kafka, {
        ...this.connection.consumerSettings(),
        groupId: namespace + (durable ? group : `${group}.${instanceId}`),
        group,
        topics: [...byTopic.keys()],
        partitions: deliveries.reduce((sum, { topic }) => sum + topic.partitions, 0),
        durable,
        onAssigned: durable ? undefined : this.options.onAssigned,
        handle: (batch, messages) =>
          this.handle(byTopic.get(batch.topic) as MessageDelivery, batch, messages),
      }),
    ];
  }

  /** Runs the handlers together, then sends all replies in one request. Returns how many, counted from the first, are done. */
  private async handle(
    delivery: MessageDelivery,
    { partition }: Batch,
    messages: KafkaMessage[],
  ): Promise<number> {
    const outcomes = await Promise.all(
      messages.map((message) =>
        delivery.handle({
          partition,
          offset: message.offset,
          key: message.key?.toString() ?? null,
          version: header(message, headers.version),
          value: message.value?.toString() ?? null,
          wantsReply: header(message, headers.replyTo) !== undefined,
          traceparent: header(message, headers.trace),
        }),
      ),
    );
    const replies = messages.flatMap((message, index) => replyTo(message, outcomes[index] as Outcome));
    if (replies.length > 0) await this.connection.send(replies);
    const failedAt = outcomes.findIndex(({ done }) => !done);
    return failedAt < 0 ? messages.length : failedAt;
  }
}

function replyTo(message: KafkaMessage, outcome: Outcome): OutgoingMessage[] {
  const instance = header(message, headers.replyTo);
  const correlationId = header(message, headers.correlationId);
  if (!outcome.done || outcome.reply === null || instance === undefined || correlationId === undefined)
    return [];
  return [
    {
      topic: REPLY_TOPIC,
      key: instance,
      value: outcome.reply,
      headers: { [headers.replyTo]: instance, [headers.correlationId]: correlationId },
    },
  ];
}

function deadMessage(letter: DeadLetter): OutgoingMessage {
  return {
    topic: deadLetterTopic(letter.topic),
    key: letter.key,
    value: letter.payload,
    headers: {
      'origin-topic': letter.topic,
      'origin-partition': String(letter.partition),
      'origin-offset': letter.offset,
      'origin-group': letter.group,
      reason: letter.reason,
      ...(letter.id === null ? {} : { id: letter.id }),
    },
  };
}
