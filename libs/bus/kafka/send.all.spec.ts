import { createRequire } from 'node:module';
import { Partitioners } from 'kafkajs';
import { expect, it } from 'vitest';
import { NO_RETRIES, sendAll } from './send.all.js';

type SendMessages = (batch: { acks: number; topicMessages: object[] }) => Promise<unknown>;

const require = createRequire(import.meta.url);
const createSendMessages = require('kafkajs/src/producer/sendMessages') as (parts: object) => SendMessages;
const createRetry = require('kafkajs/src/retry') as (options: object) => unknown;
const { KafkaJSConnectionClosedError } = require('kafkajs/src/errors') as {
  KafkaJSConnectionClosedError: new (message: string, at: object) => Error;
};

const TOPIC = 'events';
const nothing = async () => undefined;

interface Produced {
  topicData: { partitions: { partition: number }[] }[];
}

/**
 * Two brokers with one partition each. The second dies at the first message, and the first takes over its partition.
 */
class Brokers {
  readonly stored: number[] = [];
  private isDead = false;

  readonly first = { nodeId: '1', produce: async (data: Produced) => this.store(data) };
  readonly second = {
    nodeId: '2',
    produce: async () => {
      this.isDead = true;
      throw new KafkaJSConnectionClosedError('Closed connection', { host: 'second', port: 1 });
    },
  };

  readonly cluster = {
    refreshMetadataIfNecessary: nothing,
    refreshMetadata: nothing,
    addMultipleTargetTopics: nothing,
    removeBroker: () => undefined,
    isConnected: () => true,
    findTopicPartitionMetadata: () => [
      { partitionId: 0, leader: 1 },
      { partitionId: 1, leader: this.isDead ? 1 : 2 },
    ],
    findLeaderForPartitions: (_: string, partitions: string[]) => {
      const leaders: Record<string, number[]> = {};
      for (const partition of partitions.map(Number))
        (leaders[partition === 0 || this.isDead ? '1' : '2'] ??= []).push(partition);
      return leaders;
    },
    findBroker: async ({ nodeId }: { nodeId: string }) => (nodeId === '1' ? this.first : this.second),
  };

  private store({ topicData }: Produced) {
    const partitions = topicData.flatMap((each) => each.partitions.map(({ partition }) => partition));
    this.stored.push(...partitions);
    const answers = partitions.map((partition) => ({ partition, errorCode: 0, baseOffset: '0' }));
    return { topics: [{ topicName: TOPIC, partitions: answers }] };
  }
}

function senderOf({ cluster }: Brokers, { retries }: { retries: number }): SendMessages {
  const quiet = { debug: () => undefined, error: () => undefined };
  const eosManager = {
    acquireBrokerLock: nothing,
    releaseBrokerLock: nothing,
    isTransactional: () => false,
    getSequence: () => 0,
    updateSequence: () => undefined,
    getProducerId: () => -1,
    getProducerEpoch: () => 0,
  };
  const retrier = createRetry({ initialRetryTime: 5, maxRetryTime: 10, retries });
  const partitioner = Partitioners.DefaultPartitioner();
  return createSendMessages({ logger: quiet, cluster, partitioner, eosManager, retrier });
}

const batch = {
  acks: -1,
  topicMessages: [
    {
      topic: TOPIC,
      messages: [
        { value: 'of the first', partition: 0 },
        { value: 'of the second', partition: 1 },
      ],
    },
  ],
};

it('resends a dead broker’s messages to the broker that took over, although that one had answered before', async () => {
  const brokers = new Brokers();
  const send = senderOf(brokers, NO_RETRIES);
  await sendAll(() => send(batch));
  expect(brokers.stored).toContain(1);
});

it('fails at once if Kafka refuses permanently', async () => {
  const refusal = Object.assign(new Error('The message is too large.'), { retriable: false });
  let attempts = 0;
  const send = () => {
    attempts += 1;
    return Promise.reject(refusal);
  };
  await expect(sendAll(send)).rejects.toBe(refusal);
  expect(attempts).toBe(1);
});

it('is needed for as long as kafkajs considers those messages sent', async () => {
  const brokers = new Brokers();
  await senderOf(brokers, { retries: 4 })(batch);
  expect(brokers.stored).toEqual([0]);
});
